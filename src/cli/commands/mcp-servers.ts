import { type Client, ClientError } from "../../client/index.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import { openClient } from "../open/client.ts"
import { type SigningIn, signInTo } from "../open/mcp-sign-in.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { onStop } from "../process/on-stop.ts"
import { readConfig } from "../settings/config.ts"
import { addProgram } from "../settings/mcp-file.ts"
import { warn } from "../settings/warn.ts"
import { type McpFlags, mcpFlags, serverLine, toChange, told, toNew, toolLines, toRule } from "./mcp-lines.ts"

interface Asked extends SigningIn {
  readonly client: Client
  readonly words: readonly string[]
  readonly flags: McpFlags
}

/** What is done about the servers whose tools this person's agents may have: each says what to print. */
export const mcpParts = {
  async list({ client }) {
    const { items } = await client.listMcpServers()
    return items.map(serverLine).join("\n") || "No MCP servers. `pawl mcp add NAME URL` names one."
  },
  async add(asked) {
    const [name, url] = asked.words
    if (name === undefined || url === undefined)
      throw new CommandError("Say its name and where it is: pawl mcp add NAME URL")
    const added = await asked.client.addMcpServer({ body: toNew(name, url, asked.flags) })
    if (added.signIn === undefined) return told(added)
    asked.tell(`${name} wants you to sign in; it is added, and \`pawl mcp login ${name}\` does it later, too.`)
    return signedIn(asked, name)
  },
  async change({ client, words: [name], flags }) {
    const change = toChange(flags)
    if (Object.keys(change).length === 0)
      throw new CommandError("Say what is changed: --name, --url, --header, --no-header, --agent, --public, --private")
    return told(await client.changeMcpServer({ params: { name: named(name) }, body: change }))
  },
  async login(asked) {
    const name = named(asked.words[0])
    const { items } = await asked.client.listMcpServers()
    if (items.find((each) => each.name === name)?.signIn === "done")
      return `You are signed in to ${name}. \`pawl mcp logout ${name}\` forgets it.`
    return signedIn(asked, name)
  },
  async logout({ client, words: [name] }) {
    await client.endMcpSignIn({ params: { name: named(name) } })
    return `You are signed out of ${named(name)}.`
  },
  async remove({ client, words: [name] }) {
    await client.removeMcpServer({ params: { name: named(name) } })
    return `${named(name)} is forgotten.`
  },
  async tools({ client, words: [name] }) {
    return told(await client.lookAtMcpServer({ params: { name: named(name) } }))
  },
  async allow({ client, words: [name, tool, rule], flags }) {
    const params = { name: named(name) }
    const { items } = await client.listMcpServers()
    const server = items.find((each) => each.name === params.name)
    const found = server?.tools.find((each) => each.tool === tool)
    if (!server || !found)
      throw new CommandError(
        `There is no tool "${tool ?? ""}" of "${params.name}". pawl mcp tools ${params.name} lists them.`,
      )
    const decided = {
      ...(rule === undefined ? {} : { rule: toRule(rule) }),
      ...(flags.again ? { again: true } : flags["not-again"] ? { again: false } : {}),
    }
    const body = { tool: found.tool, hash: found.now.hash, ...decided }
    const { tools } = await client.decideMcpTool({ params, body })
    return tools
      .filter((each) => each.tool === tool)
      .map(toolLines)
      .join("\n")
  },
} satisfies Record<string, (asked: Asked) => Promise<string>>

export type McpPart = keyof typeof mcpParts

async function signedIn(asked: Asked, name: string): Promise<string> {
  return `You are signed in.\n${told(await signInTo(asked.client, name, asked))}`
}

/** `pawl mcp` with a first word of its own. */
export async function runPart(part: McpPart, words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("mcp", words, mcpFlags)
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
  const how = { isBrief: true, leavesIndexes: true }
  await using place = await openClient(config, { log, recent, dir: undefined, server: values.server, ...how })
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  const isHere = values.server === undefined
  const asked = { words: positionals, flags: values, isHere, stopping: onStop(), tell: print }
  try {
    print(await mcpParts[part]({ client: place.client, ...asked }))
  } catch (error) {
    if (error instanceof ClientError) throw new CommandError(error.message)
    throw error
  }
  return 0
}

function named(name: string | undefined): string {
  if (name === undefined) throw new CommandError("Say which one by its name; pawl mcp list shows them.")
  return name
}
