import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { z } from "zod"
import { makeDataFolder } from "../../../core/compose/open-store.ts"
import { privateFolders } from "../../../core/compose/files-options.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import type { Folder, FolderTrust } from "../../../packs/files/folder/folder.ts"
import { folderId, openFolder } from "../../../packs/files/folder/local-folder.ts"
import { TaintedFiles } from "../../../packs/files/folder/tainted-files.ts"
import { connectionText } from "../../strings/serve.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"

const Stored = z.object({ folders: z.record(z.string(), z.boolean()) })

/**
 * Which folders the person trusts, by real path. Stored with the data, never in a folder: a repository cannot bring its
 * own trust. A trusted folder covers its subfolders up to the next git repository, so a clone in it is asked about.
 */
export class TrustedFolders {
  readonly #dataFolder: string

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder
  }

  /** The folders that the person has answered about, and the answers. */
  get all(): ReadonlyMap<string, boolean> {
    if (!existsSync(this.#file)) return new Map()
    try {
      const { folders } = Stored.parse(JSON.parse(readFileSync(this.#file, "utf8")))
      return new Map(Object.entries(folders))
    } catch {
      return new Map() // damaged: the person is asked again
    }
  }

  /** Undefined if the person has not answered yet, and for a missing folder. */
  answerFor(folder: string): boolean | undefined {
    const { all } = this
    if (!existsSync(folder)) return undefined
    const real = realpathSync(folder)
    const own = all.get(real)
    if (own !== undefined) return own
    const covering = parentsInRepository(real).find((parent) => all.has(parent))
    return covering === undefined ? undefined : all.get(covering)
  }

  trustOf(folder: string): FolderTrust {
    return { isTrusted: this.answerFor(folder) ?? false, tainted: this.#taintedIn(folder) }
  }

  /** Trusting a folder means trusting its files as they are now. */
  answer(folder: string, isTrusted: boolean): void {
    this.#write(new Map(this.all).set(realOf(folder), isTrusted))
    if (isTrusted) this.#taintedIn(folder).forget()
  }

  /** Returns false if there was no answer. */
  forget(folder: string): boolean {
    const folders = new Map(this.all)
    // A deleted folder is named by the path that the list shows.
    const isKnown = folders.delete(folder) || folders.delete(resolve(folder)) || folders.delete(realOf(folder))
    if (isKnown) this.#write(folders)
    return isKnown
  }

  #taintedIn(folder: string): TaintedFiles {
    return new TaintedFiles(this.#dataFolder, folderId(realpathSync(folder)))
  }

  get #file(): string {
    return join(this.#dataFolder, "trusted-folders.json")
  }

  #write(folders: ReadonlyMap<string, boolean>): void {
    makeDataFolder(this.#dataFolder)
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify({ folders: Object.fromEntries(folders) }, undefined, 2)}\n`, { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}

/** Its parent folders in the same git repository. */
function parentsInRepository(folder: string): string[] {
  const parents: string[] = []
  let at = folder
  while (!existsSync(join(at, ".git"))) {
    const parent = dirname(at)
    if (parent === at) return []
    parents.push(parent)
    at = parent
  }
  return parents
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new CommandError(connectionText.cannotOpenFolder(folder, failureReason(error)))
  }
}

/** The work folder without Pawl's own files; trusted if the person has said so. */
export function toFolder(dir: string, config: Pick<Config, "dataFolder" | "filesFolder">): Folder {
  try {
    return openFolder(dir, undefined, privateFolders(config), new TrustedFolders(config.dataFolder).trustOf(dir))
  } catch (error) {
    throw new CommandError(connectionText.cannotOpenFolder(dir, failureReason(error)))
  }
}
