import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { z } from "zod"
import { makeDataFolder } from "../../../core/compose/open-store.ts"
import { privateFolders } from "../../../core/compose/files-options.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import type { Folder, FolderTrust } from "../../../packs/files/folder/folder.ts"
import { folderId, openFolder } from "../../../packs/files/folder/local-folder.ts"
import { hashesOfRules, parentsInRepository, ProjectRules } from "../../../packs/files/folder/project-rules.ts"
import { TaintedFiles } from "../../../packs/files/folder/tainted-files.ts"
import { connectionText } from "../../strings/serve.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"

const Stored = z.object({
  folders: z.record(z.string(), z.boolean()),
  /** Hashes of each trusted folder's instructions for agents, as they were when the person trusted it. */
  rules: z.record(z.string(), z.array(z.string())).default({}),
})

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
    return new Map(Object.entries(this.#stored.folders))
  }

  /** Undefined if the person has not answered yet, and for a missing folder. */
  answerFor(folder: string): boolean | undefined {
    const answered = this.#answered(folder)
    return answered === undefined ? undefined : this.all.get(answered)
  }

  trustOf(folder: string): FolderTrust {
    return { isTrusted: this.answerFor(folder) ?? false, tainted: this.#taintedIn(folder), rules: this.rulesOf(folder) }
  }

  /** The instructions for agents that apply in a folder. */
  rulesOf(folder: string): ProjectRules {
    const answered = this.#answered(folder)
    const accepted = new Set(answered === undefined ? [] : this.#stored.rules[answered])
    return new ProjectRules(realOf(folder), {
      ...{ isTrusted: this.answerFor(folder) ?? false, accepted },
      personal: this.#dataFolder,
    })
  }

  /** Trusting a folder means trusting its files as they are now. */
  answer(folder: string, isTrusted: boolean): void {
    const real = realOf(folder)
    const { folders, rules } = this.#stored
    this.#write({
      folders: { ...folders, [real]: isTrusted },
      rules: { ...rules, [real]: isTrusted ? hashesOfRules(real) : [] },
    })
    if (isTrusted) this.#taintedIn(folder).forget()
  }

  /** The person has agreed to the folder's instructions for agents as they are now. */
  acceptRules(folder: string): void {
    const answered = this.#answered(folder) ?? realOf(folder)
    const { folders, rules } = this.#stored
    const accepted = [...new Set([...(rules[answered] ?? []), ...hashesOfRules(folder)])]
    this.#write({ folders, rules: { ...rules, [answered]: accepted } })
  }

  /** Returns false if there was no answer. */
  forget(folder: string): boolean {
    const { folders, rules } = this.#stored
    // A deleted folder is named by the path that the list shows.
    const known = [folder, resolve(folder), realOf(folder)].find((path) => Object.hasOwn(folders, path))
    if (known === undefined) return false
    const others = <Value>(all: Readonly<Record<string, Value>>) =>
      Object.fromEntries(Object.entries(all).filter(([path]) => path !== known))
    this.#write({ folders: others(folders), rules: others(rules) })
    return true
  }

  /** The folder whose answer counts: this one, or a parent in the same repository. */
  #answered(folder: string): string | undefined {
    if (!existsSync(folder)) return undefined
    const real = realpathSync(folder)
    const { folders } = this.#stored
    return [real, ...parentsInRepository(real)].find((path) => Object.hasOwn(folders, path))
  }

  get #stored(): z.infer<typeof Stored> {
    if (!existsSync(this.#file)) return { folders: {}, rules: {} }
    try {
      return Stored.parse(JSON.parse(readFileSync(this.#file, "utf8")))
    } catch {
      return { folders: {}, rules: {} } // damaged: the person is asked again
    }
  }

  #taintedIn(folder: string): TaintedFiles {
    return new TaintedFiles(this.#dataFolder, folderId(realpathSync(folder)))
  }

  get #file(): string {
    return join(this.#dataFolder, "trusted-folders.json")
  }

  #write(stored: z.infer<typeof Stored>): void {
    makeDataFolder(this.#dataFolder)
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(stored, undefined, 2)}\n`, { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new CommandError(connectionText.cannotOpenFolder(folder, failureReason(error)))
  }
}

/** Opens the work folder without Pawl's own files. It is trusted if the user trusted it. */
export function toFolder(dir: string, config: Pick<Config, "dataFolder" | "filesFolder" | "projectRules">): Folder {
  try {
    const trust = new TrustedFolders(config.dataFolder).trustOf(dir)
    const given = config.projectRules ? trust : { ...trust, rules: "none" as const }
    return openFolder(dir, undefined, privateFolders(config), given)
  } catch (error) {
    throw new CommandError(connectionText.cannotOpenFolder(dir, failureReason(error)))
  }
}
