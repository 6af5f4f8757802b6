import type { Client } from "../../client/index.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { McpServerView, McpToolView } from "../../protocol/mcp-servers.ts"
import { type McpToolRule, mcpToolRules } from "../../protocol/ports/mcp.ts"
import { openClient } from "../open/client.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { addProgram } from "../settings/mcp-file.ts"
import { warn } from "../settings/warn.ts"

const flags = {
  server: { type: "string" },
  token: { type: "string" },
  header: { type: "string", multiple: true },
  agent: { type: "string", multiple: true },
  public: { type: "boolean" },
} as const

type Flags = ReturnType<typeof readFlags<typeof flags>>["values"]
type Part = (client: Client, words: readonly string[], flags: Flags) => Promise<string>

/** What is done about the servers whose tools this person's agents may have: each says what to print. */
const parts = {
  async list(client) {
    const { items } = await client.listMcpServers()
    return items.map(serverLine).join("\n") || "No MCP servers. `pawl mcp add NAME URL` names one."
  },
  async add(client, [name, url], { header = [], agent, public: isPublic }) {
    if (name === undefined || url === undefined)
      throw new CommandError("Say its name and where it is: pawl mcp add NAME URL")
    const headers = Object.fromEntries(header.map(toHeader))
    const agents = agent ? { agents: agent } : {}
    const body = { name, url, headers, ...agents, data: isPublic ? "public" : "private" } as const
    return told(await client.addMcpServer({ body }))
  },
  async remove(client, [name]) {
    await client.removeMcpServer({ params: { name: named(name) } })
    return `${named(name)} is forgotten.`
  },
  async tools(client, [name]) {
    return told(await client.lookAtMcpServer({ params: { name: named(name) } }))
  },
  async allow(client, [name, tool, rule]) {
    const params = { name: named(name) }
    const { items } = await client.listMcpServers()
    const server = items.find((each) => each.name === params.name)
    const found = server?.tools.find((each) => each.tool === tool)
    if (!server || !found)
      throw new CommandError(
        `There is no tool "${tool ?? ""}" of "${params.name}". pawl mcp tools ${params.name} lists them.`,
      )
    const decided = rule === undefined ? {} : { rule: toRule(rule) }
    const { tools } = await client.decideMcpTool({
      params,
      body: { tool: found.tool, hash: found.now.hash, ...decided },
    })
    return tools
      .filter((each) => each.tool === tool)
      .map(toolLines)
      .join("\n")
  },
} satisfies Record<string, Part>

/** `pawl mcp list`, `add`, `remove`, `tools` and `allow`. */
export async function runPart(part: keyof typeof parts, words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("mcp", words, flags)
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  warn(config)
  const command = words.includes("--") ? words.slice(words.indexOf("--") + 1) : []
  if (part === "add" && command.length > 0) {
    if (values.server !== undefined)
      throw new CommandError("Only who operates a server can name a program for it: in its file of PAWL_MCP.")
    const file = addProgram(config.dataFolder, named(positionals[0]), command, values.agent)
    process.stdout.write(`Written to ${file}. Servers read it when they are started.\n`)
    return 0
  }
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  await using place = await openClient(config, { log, recent, dir: undefined, server: values.server, isBrief: true })
  process.stdout.write(`${await parts[part](place.client, positionals, values)}\n`)
  return 0
}

function named(name: string | undefined): string {
  if (name === undefined) throw new CommandError("Say which one by its name; pawl mcp list shows them.")
  return name
}

function toHeader(text: string): [string, string] {
  const at = text.indexOf(":")
  const [name, value] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()]
  if (name === "" || value === "") throw new CommandError('A header is written as "Name: value".')
  return [name, value]
}

function toRule(text: string): McpToolRule {
  const rule = mcpToolRules.find((each) => each === text)
  if (!rule) throw new CommandError(`"${text}" is no rule. There are: ${mcpToolRules.join(", ")}.`)
  return rule
}

const told = (server: McpServerView) => [serverLine(server), ...server.tools.map(toolLines)].join("\n")

const serverLine = ({ name, by, address, agents, tools }: McpServerView) =>
  `${name} (${by === "operator" ? "the operator's" : "yours"}, ${address}): ${tools.length === 1 ? "one tool" : `${tools.length} tools`} for ${agents.join(", ")}`

/** Of one that has changed, what it was and what it is: that is what somebody agrees to. */
function toolLines({ tool, rule, state, now, before }: McpToolView): string {
  const says = state === "agreed" ? rule : `${state}, held back until you allow it`
  const words = [`  ${tool} [${says}] ${oneLine(now.description)}`]
  if (before) {
    words.push(`    before: ${oneLine(before.description)}`)
    if (JSON.stringify(before.inputSchema) !== JSON.stringify(now.inputSchema))
      words.push(
        `    its arguments were ${JSON.stringify(before.inputSchema)}`,
        `    and are now ${JSON.stringify(now.inputSchema)}`,
      )
  }
  return words.join("\n")
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 300)
