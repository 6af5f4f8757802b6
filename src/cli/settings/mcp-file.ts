import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import type { McpServer } from "../../mcp/definition/server.ts"
import { readServers, ServersFault } from "../../mcp/read-servers.ts"
import { CommandError } from "../process/command.ts"
import { anyText } from "./kinds.ts"
import { type Environment, setting } from "./setting.ts"

export const mcpSetting = setting(anyText, {
  says: "A JSON file with MCP servers whose tools agents may have (docs/mcp.md).",
  usuallyInWords: "`mcp.json` in `PAWL_DATA`, where there is one",
})

/** Where the operator's MCP servers stand: the file of `PAWL_MCP`, or one beside the data, which need not be there. */
export const mcpFile = (named: string | undefined, dataFolder: string): string =>
  named === undefined ? join(dataFolder, "mcp.json") : resolve(named)

/** The operator's MCP servers. A fault in their file keeps Pawl from starting, and is told with its place. */
export function readMcpFile(
  named: string | undefined,
  dataFolder: string,
  environment: Environment,
): readonly McpServer[] {
  const file = mcpFile(named, dataFolder)
  if (named === undefined && !existsSync(file)) return []
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw new CommandError(`PAWL_MCP names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  try {
    return readServers(text, environment)
  } catch (error) {
    if (error instanceof ServersFault) throw new CommandError(`PAWL_MCP, ${file}: ${error.message}.`)
    throw error
  }
}
