import { existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { FilesOptions } from "../../packs/files/agent.ts"
import type { Folder } from "../../packs/files/folder/folder.ts"
import { UndoFolder } from "../../packs/files/folder/undo-bytes.ts"
import { pathsInEnvironment } from "../../packs/files/sandbox/environment.ts"
import { InstalledSkills } from "../../packs/files/skills/installed-skills.ts"
import { findSandbox, hiddenPaths } from "../../packs/files/sandbox/sandbox.ts"
import type { ServerSettings } from "./settings.ts"

/** The options of the files pack on this machine. */
export function filesOptions(
  settings: Pick<ServerSettings, "commandEnvironment" | "dataFolder" | "filesFolder" | "secrets">,
  folder: Folder,
  secrets: Iterable<string> = settings.secrets,
): FilesOptions {
  const { commandEnvironment: environment, dataFolder } = settings
  const home = environment.HOME || homedir()
  const sandbox = findSandbox({
    searchPath: environment.PATH ?? "",
    root: folder.root,
    id: folder.id,
    home,
    hidden: hiddenPaths(home, ...privateFolders(settings)),
    homes: join(dataFolder, "sandboxes"),
    shown: pathsInEnvironment(environment),
  })
  const [undoBytes, skills] = [new UndoFolder(join(dataFolder, "kept")), new InstalledSkills(dataFolder)]
  return { folder, sandbox, environment, secrets, undoBytes, skills }
}

/** Folders with people's data: no tool may use them, and no command sees them. */
export function privateFolders({
  dataFolder,
  filesFolder,
}: Pick<ServerSettings, "dataFolder" | "filesFolder">): string[] {
  return [dataFolder, ...(filesFolder === undefined ? [] : [filesFolder])]
}

/**
 * The values removed from the output of tools: secrets of the settings, and the key in the data folder, which may be created
 * later. Not people's own keys: a person could choose a common word as a key, and it would disappear from everyone's output.
 */
export function secretsOfServer({
  secrets,
  dataFolder,
}: Pick<ServerSettings, "secrets" | "dataFolder">): Iterable<string> {
  const file = join(dataFolder, "master.key")
  let keys: readonly string[] | undefined
  return {
    *[Symbol.iterator]() {
      yield* secrets
      keys ??= existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : undefined
      yield* keys ?? []
    },
  }
}
