import type { Folder } from "../../packs/files/folder/folder.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import { CommandError } from "../process/command.ts"

/** The folder that is worked in, without what is ours in it. */
export function toFolder(dir: string, closed: readonly string[]): Folder {
  try {
    return openFolder(dir, undefined, closed)
  } catch (error) {
    throw new CommandError(`The folder ${JSON.stringify(dir)} cannot be opened: ${(error as Error).message}.`)
  }
}
