import { makeFolders } from "../shared/processes/make-folders.ts"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Launched } from "../tools/mcp/connection/program-transport.ts"
import type { ProgramTarget } from "../tools/mcp/definition/server.ts"
import { commandLimits, whyTooMuch } from "../../packs/files/sandbox/command-limits.ts"
import { pathsInEnvironment } from "../../packs/files/sandbox/environment.ts"
import { findSandbox, hiddenPaths, noSandbox } from "../../packs/files/sandbox/sandbox.ts"
import { isInside } from "../../packs/files/folder/find-program.ts"
import { failure } from "../protocol/errors.ts"
import { privateFolders } from "./files-options.ts"
import type { ServerSettings } from "./settings.ts"

/**
 * Launches an MCP server that is a program, in the same sandbox as commands of the agent `files`. Without a sandbox it is
 * not started unless the operator allowed that.
 */
export async function launchProgram(
  settings: Pick<ServerSettings, "commandEnvironment" | "dataFolder" | "filesFolder">,
  name: string,
  { command, environment, folder, reads = [], network, sandbox: isHeld }: ProgramTarget,
): Promise<Launched> {
  const { commandEnvironment, dataFolder } = settings
  const ours = privateFolders(settings)
  const root = folder ?? join(dataFolder, "mcp", name)
  if (folder === undefined) makeFolders(root)
  const home = commandEnvironment.HOME || homedir()
  const sandbox = isHeld
    ? findSandbox({
        ...{ searchPath: commandEnvironment.PATH ?? "", root, home, id: `mcp-${name}` },
        hidden: hiddenPaths(home, ...ours).filter((path) => path !== root),
        homes: join(dataFolder, "sandboxes"),
        shown: pathsInEnvironment(commandEnvironment),
      })
    : noSandbox
  if (isHeld && !sandbox.isEnforced)
    throw failure("mcp_server_failed", {
      problem: `it would run ${sandbox.description}. ${sandbox.remedy}, or say "sandbox": false in its entry`,
    })
  const readable = reads.filter((path) => path !== "/" && !ours.some((place) => isInside(path, place)))
  const wrapped = await sandbox.wrap(command, { root, network, readOnly: [], reads: readable })
  const limits = commandLimits()
  return {
    ...{ program: wrapped.program, arguments: wrapped.arguments, cwd: root },
    environment: { ...commandEnvironment, ...wrapped.environment, ...environment },
    ...(wrapped.descriptor3 ? { handed: wrapped.descriptor3 } : {}),
    says: isHeld
      ? `It ran in a sandbox (bubblewrap) ${network ? "WITH" : "without"} network, where it sees ${seen(folder, readable)}`
      : "It ran without a sandbox",
    whyTooMuch: (pid) => whyTooMuch(pid, limits),
    [Symbol.asyncDispose]: () => wrapped[Symbol.asyncDispose](),
  }
}

function seen(folder: string | undefined, reads: readonly string[]): string {
  const places = [...(folder === undefined ? [] : [folder]), ...reads]
  return places.length > 0 ? places.join(", ") : "no folder of yours"
}
