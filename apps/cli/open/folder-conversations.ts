import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ConversationId, isId } from "../../../core/protocol/ids.ts"

const MAX = 200
const MAX_FOLDERS = 1000

/** The folders of conversations by id, as far as this machine has recorded them. */
export function foldersIn(dataFolder: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  const at = join(dataFolder, "folders")
  if (!existsSync(at)) return folders
  const files = readdirSync(at).filter((name) => name.endsWith(".json"))
  for (const name of files.slice(0, MAX_FOLDERS)) {
    const { folder, conversations } = readStored(join(at, name))
    for (const id of conversations) folders.set(id, folder)
  }
  return folders
}

/** A missing or damaged file counts as empty: it is only a convenience. */
function readStored(file: string): { readonly folder: string; readonly conversations: readonly ConversationId[] } {
  try {
    const { folder, conversations } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
    const ids = Array.isArray(conversations) ? conversations : []
    return {
      folder: typeof folder === "string" ? folder : "",
      conversations: ids.filter((id): id is ConversationId => typeof id === "string" && isId("conv", id)),
    }
  } catch {
    return { folder: "", conversations: [] }
  }
}

/**
 * The conversations that were created in a folder, newest first, stored in the data folder. It decides what
 * `--continue` opens and which conversations a process may take over; it grants no access to files.
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
    return readStored(this.#file).conversations
  }

  get newest(): ConversationId | undefined {
    return this.all[0]
  }

  /** Two terminals in one folder may each lose an entry of the other here; the store has both conversations. */
  note(id: ConversationId): void {
    const before = this.all
    if (before[0] === id) return
    const conversations = [id, ...before.filter((known) => known !== id)].slice(0, MAX)
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, JSON.stringify({ folder: this.#folder, conversations }), { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}
