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
  locationOf,
  requireNewName,
  requireDataFolderFile,
  toEntry,
} from "../settings/mcp-file.ts"
import { type McpFlags, serverText, toolLines, toRule, toSomeChange } from "./mcp-lines.ts"
import { mcpText } from "../../strings/mcp.ts"
import { clientErrorText } from "../process/error-text.ts"

/** Actions of `pawl mcp` on the operator's servers. Their definitions are in a file, not in the database. */
export const operatorParts = {
  async change(config, [name = ""], flags) {
    const { name: newName = name, agents, data, ...reached } = toSomeChange(flags)
    requireDataFolderFile(config, name)
    const { dataFolder } = config
    if (Object.keys(reached).length > 0)
      throw new CommandError(mcpText.editFile(name, locationOf(config.mcpFile, name)))
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
      // Tools are pinned by the name of their server, so a renamed program is queried again.
      if (isRenamed && isProgram) return serverText(await client.lookAtMcpServer({ params: { name: newName } }))
      const items = await readPages((query) => client.listMcpServers({ query }))
      return items
        .filter((each) => each.name === newName)
        .map(serverText)
        .join("\n")
    })
    const fields = { ...(agents ? { agents } : {}), ...(data ? { data } : {}) }
    return `${lines}\n${mcpText.written(editServer(dataFolder, name, (entry) => [newName, { ...entry, ...fields }]))}`
  },
  async remove(config, [name = ""]) {
    requireDataFolderFile(config, name)
    return `${mcpText.removed(name)} ${mcpText.written(editServer(config.dataFolder, name, () => undefined))}`
  },
  async allow(config, [name = "", tool, word], flags) {
    const rule = word === undefined ? undefined : toRule(word)
    const again = flags.again ? true : flags["not-again"] ? false : undefined
    const isOfFile = rule !== undefined || again !== undefined
    if (isOfFile) requireDataFolderFile(config, name)
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

/** The rules of an entry for its tools. The file was validated when the settings were read. */
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

/** Starts the program as `pawl chat` would and lists its tools: an unusable program is not stored. */
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
      return `${serverText(view)}\n${reads}${mcpText.written(file)}`
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

/** Runs with a server in this process, as the operator. */
async function withClient(config: Config, use: (client: Client) => Promise<string>): Promise<string> {
  const where = { log: silentLog, recent: new RecentSecrets(config.secrets), dir: undefined, server: undefined }
  await using place = await openClient(config, { ...where, leavesIndexes: true, isOperator: true })
  try {
    return await use(place.client)
  } catch (error) {
    throw error instanceof ClientError ? new CommandError(clientErrorText(error)) : error
  }
}
