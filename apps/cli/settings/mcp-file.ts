import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import type { McpServer } from "../../../core/tools/mcp/definition/server.ts"
import { readServers, ServersFault } from "../../../core/tools/mcp/server-list.ts"
import { isInside } from "../../../packs/files/folder/find-program.ts"
import { CommandError } from "../process/command.ts"
import { anyText } from "./kinds.ts"
import { type Environment, setting } from "./setting.ts"
import { settingsText } from "../../strings/settings.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { mcpText } from "../../strings/mcp.ts"

export const mcpSetting = setting(anyText, {
  description: "A JSON file with MCP servers whose tools agents can use (docs/reference/mcp-servers.md).",
  defaultText: "`mcp.json` in `PAWL_DATA`, if it exists",
})

/** The file with the operator's MCP servers: the one of `PAWL_MCP`, or one in the data folder that may be missing. */
export const mcpFile = (named: string | undefined, dataFolder: string): string =>
  named === undefined ? join(dataFolder, "mcp.json") : resolve(named)

/** The operator's MCP servers. A fault in their file keeps Pawl from starting; the error names the file and the field. */
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
    throw new CommandError(settingsText.fileUnreadable("PAWL_MCP", file, failureReason(error)))
  }
  try {
    return readServers(text, environment)
  } catch (error) {
    if (!(error instanceof ServersFault)) throw error
    throw new CommandError(settingsText.fileProblem(named === undefined ? undefined : "PAWL_MCP", file, error.message))
  }
}

/** A program as `pawl mcp add NAME -- COMMAND` names it. */
export interface NewProgram {
  readonly name: string
  readonly command: readonly string[]
  readonly agents: readonly string[] | undefined
  /** The folder that it can change. */
  readonly folder: string | undefined
  readonly network: boolean
}

/** The agents that get the tools unless `--agent` says otherwise. */
const USUAL_AGENTS = ["workspace", "files"]

/** Files that mark a project folder: a program needs what is next to it there. */
const MARKS = ["package.json", "pyproject.toml", ".git"]
/** Visible in every sandbox. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix"]

/**
 * The entry of a program in the file in the data folder. A file or folder that its command names, as in `node
 * server.mjs`, becomes an absolute path, because the program is started in another folder, and the program can read its
 * project.
 */
export function toEntry({ name, command: words, agents, folder, network }: NewProgram) {
  const paths = words.map((word, index) => (index === 0 && !word.includes("/") ? undefined : existing(word)))
  const [command = "", ...args] = words.map((word, index) => paths[index] ?? word)
  const reads = [...new Set(paths.flatMap((path) => (path === undefined ? [] : projectOf(path))))]
  const entry = {
    ...{ command, args },
    ...(folder === undefined ? {} : { folder: resolve(folder) }),
    ...(reads.length > 0 ? { reads } : {}),
    ...(network ? { network } : {}),
    agents: agents ?? USUAL_AGENTS,
  }
  try {
    const [server] = readServers(JSON.stringify({ mcpServers: { [name]: entry } }), {})
    return { entry, server: server as McpServer }
  } catch (error) {
    throw error instanceof ServersFault ? new CommandError(`${error.message}.`) : error
  }
}

/** Throws if the file has the name already. */
export function requireNewName(dataFolder: string, name: string): void {
  if (Object.hasOwn(serversIn(dataFolder), name))
    throw new CommandError(mcpText.nameTaken(mcpFile(undefined, dataFolder), name))
}

/** Refuses to edit the file of `PAWL_MCP`: only the file in the data folder is written by commands. */
export function requireDataFolderFile({ dataFolder, mcpFile: file }: McpFileLocation, name?: string): void {
  if (file === mcpFile(undefined, dataFolder)) return
  throw new CommandError(
    name === undefined ? mcpText.addToFile(file) : mcpText.editInFile(name, locationOf(file, name)),
  )
}

/** The file, and the line on which the entry of a server starts. */
export function locationOf(file: string, name: string): string {
  const start = `${JSON.stringify(name)}:{`
  const lines = readFileSync(file, "utf8").split("\n")
  const at = lines.findIndex((each) => each.replaceAll(/\s/g, "").includes(start))
  return at === -1 ? file : mcpText.line(file, at + 1)
}

interface McpFileLocation {
  readonly dataFolder: string
  readonly mcpFile: string
}

/** Adds a program to the file in the data folder. Returns the path of the file. */
export function addProgram(dataFolder: string, name: string, entry: object): string {
  requireNewName(dataFolder, name)
  return writeServers(dataFolder, [...Object.entries(serversIn(dataFolder)), [name, entry]])
}

export type McpEntry = Readonly<Record<string, unknown>>

/**
 * Replaces the entry of a server in the file in the data folder, under the name that `edit` returns, or removes it if `edit`
 * returns none. Returns the path of the file.
 */
export function editServer(
  dataFolder: string,
  name: string,
  edit: (entry: McpEntry) => readonly [name: string, entry: McpEntry] | undefined,
): string {
  const servers = Object.entries(serversIn(dataFolder)).flatMap(([each, entry]) => {
    const edited = each === name ? edit(entry as McpEntry) : ([each, entry] as const)
    return edited ? [edited] : []
  })
  return writeServers(dataFolder, servers)
}

function writeServers(dataFolder: string, servers: readonly (readonly [name: string, entry: unknown])[]): string {
  const file = mcpFile(undefined, dataFolder)
  const whole = JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 2)
  mkdirSync(dataFolder, { recursive: true })
  // Replaced atomically: a server that starts meanwhile must not read half a file.
  writeFileSync(`${file}.new`, `${whole}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

function serversIn(dataFolder: string): Readonly<Record<string, unknown>> {
  const file = mcpFile(undefined, dataFolder)
  const text = existsSync(file) ? readFileSync(file, "utf8") : '{ "mcpServers": {} }'
  return (JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, unknown>> }).mcpServers
}

/** The absolute path of a word that names a file or folder; a single word must look like a path or a file. */
function existing(word: string): string | undefined {
  return word !== "" && !word.startsWith("-") && existsSync(word) ? resolve(word) : undefined
}

/** The project folder of a file, else its own folder; never the root or the home folder. */
function projectOf(path: string): string[] {
  if (SYSTEM.some((folder) => isInside(path, folder))) return []
  const here = process.cwd()
  const isWide = (folder: string) => folder === homedir() || dirname(dirname(folder)) === dirname(folder)
  if (statSync(path).isDirectory()) return [path]
  if (isInside(path, here) && !isWide(here)) return [here]
  for (let folder = dirname(path); !isWide(folder); folder = dirname(folder))
    if (MARKS.some((mark) => existsSync(join(folder, mark)))) return [folder]
  return [isWide(dirname(path)) ? path : dirname(path)]
}
