import { existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { FilesOptions } from "../../packs/files/agent.ts"
import type { Folder } from "../../packs/files/folder/folder.ts"
import { KeptInFolder } from "../../packs/files/folder/kept-bytes.ts"
import { placesNamed } from "../../packs/files/sandbox/environment.ts"
import { findSandbox, hiddenPlaces } from "../../packs/files/sandbox/sandbox.ts"
import type { ServerSettings } from "./settings.ts"

/** What the tools of a folder get on this machine. */
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
    hidden: hiddenPlaces(home, ...placesOfOurs(settings)),
    homes: join(dataFolder, "sandboxes"),
    shown: placesNamed(environment),
  })
  return { folder, sandbox, environment, secrets, kept: new KeptInFolder(join(dataFolder, "kept")) }
}

/** Where what people have said and sent lies: no tool works there, and no command sees it. */
export function placesOfOurs({
  dataFolder,
  filesFolder,
}: Pick<ServerSettings, "dataFolder" | "filesFolder">): string[] {
  return [dataFolder, ...(filesFolder === undefined ? [] : [filesFolder])]
}

/**
 * What no tool tells: the operator's settings, and the key that was made for the data folder, which comes with the first
 * secret that needs it. Not what people bring: whoever brought common words as a key would take them out of what others are told.
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
