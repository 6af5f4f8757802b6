import { type Client, ClientError, readPages } from "../../../client/index.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { openClient } from "../open/client.ts"
import { type SigningIn, signInTo } from "../open/mcp-sign-in.ts"
import { CommandError, UsageError, onStop, readFlags } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { requireDataFolderFile } from "../settings/mcp-file.ts"
import { reportData, warn } from "../settings/warn.ts"
import { type McpFlags, mcpFlags, serverLine, serverText, toNew, toolLines, toRule, toSomeChange } from "./mcp-lines.ts"
import { addTriedProgram, findTool, operatorParts } from "./mcp-operator.ts"
import { mcpText } from "../../strings/mcp.ts"
import { clientErrorText } from "../process/error-text.ts"

interface McpRequest extends SigningIn {
  readonly client: Client
  readonly words: readonly string[]
  readonly flags: McpFlags
}

/** The subcommands for MCP servers. Each returns what to print. */
export const mcpParts = {
  async list({ client }) {
    const items = await readPages((query) => client.listMcpServers({ query }))
    return items.map(serverLine).join("\n") || mcpText.none
  },
  async add(request) {
    const [name, url] = request.words
    if (name === undefined || url === undefined) throw new UsageError(mcpText.missingNameAndUrl)
    const added = await request.client.addMcpServer({ body: toNew(name, url, request.flags) })
    if (added.signIn === undefined) return serverText(added)
    request.print(mcpText.addedNeedsSignIn(name))
    return signedIn(request, name)
  },
  async change({ client, words: [name], flags }) {
    const change = toSomeChange(flags)
    await requirePersons(client, named(name))
    return serverText(await client.changeMcpServer({ params: { name: named(name) }, body: change }))
  },
  async login(request) {
    const name = named(request.words[0])
    const items = await readPages((query) => request.client.listMcpServers({ query }))
    if (items.find((each) => each.name === name)?.signIn === "done") return mcpText.alreadySignedIn(name)
    return signedIn(request, name)
  },
  async logout({ client, words: [name] }) {
    await client.endMcpSignIn({ params: { name: named(name) } })
    return mcpText.signedOut(named(name))
  },
  async remove({ client, words: [name] }) {
    await requirePersons(client, named(name))
    await client.removeMcpServer({ params: { name: named(name) } })
    return mcpText.removed(named(name))
  },
  async tools({ client, words: [name] }) {
    return serverText(await client.lookAtMcpServer({ params: { name: named(name) } }))
  },
  async allow({ client, words: [name, tool, rule], flags }) {
    const params = { name: named(name) }
    const found = await findTool(client, params.name, tool)
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
} satisfies Record<string, (request: McpRequest) => Promise<string>>

export type McpPart = keyof typeof mcpParts

async function signedIn(request: McpRequest, name: string): Promise<string> {
  return `${mcpText.signedIn}\n${serverText(await signInTo(request.client, name, request))}`
}

/** Runs a subcommand of `pawl mcp`. */
export async function runPart(part: McpPart, words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, mcpFlags)
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  warn(config)
  if (values.server === undefined) reportData(config)
  const command = words.includes("--") ? words.slice(words.indexOf("--") + 1) : []
  if (part === "add" && command.length > 0) {
    if (values.server !== undefined) throw new UsageError(mcpText.programOnServer)
    const { agent: agents, folder, network = false } = values
    const program = { name: named(positionals[0]), command, agents, folder, network }
    requireDataFolderFile(config)
    process.stdout.write(await addTriedProgram(config, program))
    return 0
  }
  if (values.folder !== undefined || values.network) throw new UsageError(mcpText.programOptions)
  const [name] = positionals
  if (values.server === undefined && isEdit(part) && config.mcp.some((each) => each.name === name)) {
    process.stdout.write(await operatorParts[part](config, positionals, values))
    return 0
  }
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const how = { leavesIndexes: true }
  await using place = await openClient(config, { log, recent, dir: undefined, server: values.server, ...how })
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  const isEmbedded = values.server === undefined
  const request = { words: positionals, flags: values, isEmbedded, stopping: onStop(), print: print }
  try {
    print(await mcpParts[part]({ client: place.client, ...request }))
  } catch (error) {
    if (error instanceof ClientError && error.code === "not_found" && name !== undefined)
      throw new CommandError(mcpText.unknownServer(name))
    if (error instanceof ClientError) throw new CommandError(clientErrorText(error))
    throw error
  }
  return 0
}

function named(name: string | undefined): string {
  if (name === undefined) throw new UsageError(mcpText.missingName)
  return name
}

const isEdit = (part: McpPart): part is keyof typeof operatorParts => Object.hasOwn(operatorParts, part)

/** A server of the operator cannot be changed over its API. */
async function requirePersons(client: Client, name: string): Promise<void> {
  const items = await readPages((query) => client.listMcpServers({ query }))
  if (items.some((each) => each.name === name && each.by === "operator"))
    throw new CommandError(mcpText.operatorServer(name))
}
