import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
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

/** Adds a program to the file beside the data, which has to be right with it. Returns where it stands. */
export function addProgram(
  dataFolder: string,
  name: string,
  [command = "", ...args]: readonly string[],
  agents: readonly string[] | undefined,
): string {
  const file = mcpFile(undefined, dataFolder)
  const text = existsSync(file) ? readFileSync(file, "utf8") : '{ "mcpServers": {} }'
  const { mcpServers } = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, unknown>> }
  if (Object.hasOwn(mcpServers, name)) throw new CommandError(`${file} has a server "${name}" already.`)
  const entry = { command, args, ...(agents ? { agents } : {}) }
  const whole = JSON.stringify({ mcpServers: { ...mcpServers, [name]: entry } }, null, 2)
  try {
    readServers(JSON.stringify({ mcpServers: { [name]: entry } }), {})
  } catch (error) {
    throw error instanceof ServersFault ? new CommandError(`${error.message}.`) : error
  }
  mkdirSync(dataFolder, { recursive: true })
  // Whole or not at all: a server that reads it meanwhile would not start with half of it.
  writeFileSync(`${file}.new`, `${whole}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}
