import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ConversationId, isId } from "../protocol/ids.ts"

const MOST = 200

/**
 * Which conversations began in a folder, newest first: kept with the data, never in the folder. It decides which one
 * `--continue` means and which ones a process may take up; what a call may touch is decided by the call itself.
 */
export class FolderConversations {
  readonly #file: string
  readonly #folder: string

  constructor(dataFolder: string, folder: string) {
    const name = createHash("sha256").update(folder).digest("hex").slice(0, 32)
    this.#file = join(dataFolder, "folders", `${name}.json`)
    this.#folder = folder
  }

  get all(): readonly ConversationId[] {
    let kept: unknown
    try {
      kept = JSON.parse(readFileSync(this.#file, "utf8"))
    } catch {
      return [] // never written, or torn by hand: nothing depends on it but convenience
    }
    const { conversations } = (kept ?? {}) as { conversations?: unknown }
    if (!Array.isArray(conversations)) return []
    return conversations.filter((id): id is ConversationId => typeof id === "string" && isId("conv", id))
  }

  get newest(): ConversationId | undefined {
    return this.all[0]
  }

  /** Two terminals in one folder may forget one of each other's conversations here; the store keeps both. */
  note(id: ConversationId): void {
    const before = this.all
    if (before[0] === id) return
    const conversations = [id, ...before.filter((known) => known !== id)].slice(0, MOST)
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, JSON.stringify({ folder: this.#folder, conversations }), { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}
