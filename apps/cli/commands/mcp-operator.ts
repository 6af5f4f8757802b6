import { silentLog } from "../../../core/shared/log.ts"
import { type Client, ClientError, readPages } from "../../../client/index.ts"
import { type McpServer, SERVER_NAME } from "../../../core/tools/mcp/definition/server.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import type { McpToolView } from "../../../core/protocol/mcp-servers.ts"
import { openClient } from "../open/client.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import {
  addProgram,
  editServer,
  type McpEntry,
  type NewProgram,
  placeOf,
  requireNewName,
  requireOwnFile,
  toEntry,
} from "../settings/mcp-file.ts"
import { type McpFlags, told, toolLines, toRule, toSomeChange } from "./mcp-lines.ts"
import { mcpText } from "../../strings/mcp.ts"
import { clientErrorText } from "../process/error-text.ts"

/** What `pawl mcp` does to servers of the operator on this machine: their definitions are in a file, not in the database. */
export const operatorParts = {
  async change(config, [name = ""], flags) {
    const { name: newName = name, agents, data, ...reached } = toSomeChange(flags)
    requireOwnFile(config, name)
    const { dataFolder } = config
    if (Object.keys(reached).length > 0) throw new CommandError(mcpText.editFile(name, placeOf(config.mcpFile, name)))
    if (!SERVER_NAME.test(newName)) throw new CommandError(mcpText.badName(newName))
    const isRenamed = newName !== name
    if (isRenamed) requireNewName(dataFolder, newName)
    const toChanged = (server: McpServer): McpServer => ({
      ...server,
      ...{ key: `=${newName}`, name: newName },
      ...(agents ? { agents } : {}),
      ...(data ? { isPublic: data === "public" } : {}),
    })
    const servers = config.mcp.map((each) => (each.name === name ? toChanged(each) : each))
    const lines = await withClient({ ...config, mcp: servers }, async (client) => {
      const isProgram = servers.some((each) => each.name === newName && each.target.kind === "program")
      // Tools are pinned by the name of their server: under a new one the program is asked for them again.
      if (isRenamed && isProgram) return told(await client.lookAtMcpServer({ params: { name: newName } }))
      const items = await readPages((query) => client.listMcpServers({ query }))
      return items
        .filter((each) => each.name === newName)
        .map(told)
        .join("\n")
    })
    const fields = { ...(agents ? { agents } : {}), ...(data ? { data } : {}) }
    return `${lines}\n${mcpText.written(editServer(dataFolder, name, (entry) => [newName, { ...entry, ...fields }]))}`
  },
  async remove(config, [name = ""]) {
    requireOwnFile(config, name)
    return `${mcpText.removed(name)} ${mcpText.written(editServer(config.dataFolder, name, () => undefined))}`
  },
  async allow(config, [name = "", tool, word], flags) {
    const rule = word === undefined ? undefined : toRule(word)
    const again = flags.again ? true : flags["not-again"] ? false : undefined
    const isOfFile = rule !== undefined || again !== undefined
    if (isOfFile) requireOwnFile(config, name)
    return withClient(config, async (client) => {
      const found = await findTool(client, name, tool)
      if (again && found.now.claims.idempotent !== true) throw new CommandError(mcpText.notRepeatable(found.tool))
      const body = { tool: found.tool, hash: found.now.hash }
      const { tools } = await client.decideMcpTool({ params: { name }, body })
      const decided = { ...(rule === undefined ? {} : { rule }), ...(again === undefined ? {} : { again }) }
      const agreed = tools.filter((each) => each.tool === tool).map((each) => toolLines({ ...each, ...decided }))
      const lines = `${agreed.join("\n")}\n`
      if (!isOfFile) return lines
      return `${lines}${mcpText.written(editServer(config.dataFolder, name, (entry) => [name, { ...entry, ...toRules(entry, found.tool, decided) }]))}`
    })
  },
} satisfies Record<string, (config: Config, words: readonly string[], flags: McpFlags) => Promise<string>>

/** The fields of an entry that say what a tool may do. The file was validated when the settings were read. */
function toRules(
  entry: McpEntry,
  tool: string,
  { rule, again }: Partial<Pick<McpToolView, "rule" | "again">>,
): McpEntry {
  const { tools = {}, idempotent = [] } = entry as { readonly tools?: object; readonly idempotent?: readonly string[] }
  const others = idempotent.filter((each) => each !== tool)
  return {
    ...(rule === undefined ? {} : { tools: { ...tools, [tool]: rule } }),
    ...(again === undefined ? {} : { idempotent: again ? [...others, tool] : others }),
  }
}

/** Starts it as `pawl chat` would and asks for its tools: what cannot be used is not stored. */
export async function addTriedProgram(config: Config, program: NewProgram): Promise<string> {
  const { dataFolder } = config
  const { name, network } = program
  requireNewName(dataFolder, name)
  const { entry, server } = toEntry(program)
  try {
    return await withClient({ ...config, mcp: [...config.mcp, server] }, async (client) => {
      const view = await client.lookAtMcpServer({ params: { name } })
      const file = addProgram(dataFolder, name, entry)
      const reads = "reads" in entry ? mcpText.canRead(entry.reads?.join(", ") ?? "") : ""
      return `${told(view)}\n${reads}${mcpText.written(file)}`
    })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(mcpText.notAdded(name, error.message, !network))
  }
}

export async function findTool(client: Client, name: string, tool: string | undefined): Promise<McpToolView> {
  const items = await readPages((query) => client.listMcpServers({ query }))
  const found = items.find((each) => each.name === name)?.tools.find((each) => each.tool === tool)
  if (found) return found
  throw new CommandError(mcpText.noTool(tool ?? "", name))
}

/** With a Pawl in this process, in the name of the operator. */
async function withClient(config: Config, use: (client: Client) => Promise<string>): Promise<string> {
  const where = { log: silentLog, recent: new RecentSecrets(config.secrets), dir: undefined, server: undefined }
  await using place = await openClient(config, { ...where, leavesIndexes: true, isOperator: true })
  try {
    return await use(place.client)
  } catch (error) {
    throw error instanceof ClientError ? new CommandError(clientErrorText(error)) : error
  }
}
