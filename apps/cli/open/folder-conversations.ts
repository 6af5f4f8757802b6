import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ConversationId, isId } from "../../../core/protocol/ids.ts"

const MAX = 200
const MAX_FOLDERS = 1000

/** In which folder each conversation was begun, or gone on with last, as far as that is known here. */
export function foldersIn(dataFolder: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  const at = join(dataFolder, "folders")
  if (!existsSync(at)) return folders
  const files = readdirSync(at).filter((name) => name.endsWith(".json"))
  for (const name of files.slice(0, MAX_FOLDERS)) {
    const { folder, conversations } = readKept(join(at, name))
    for (const id of conversations) folders.set(id, folder)
  }
  return folders
}

/** Never written, or torn by hand: nothing depends on it but convenience. */
function readKept(file: string): { readonly folder: string; readonly conversations: readonly ConversationId[] } {
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
    return readKept(this.#file).conversations
  }

  get newest(): ConversationId | undefined {
    return this.all[0]
  }

  /** Two terminals in one folder may forget one of each other's conversations here; the store keeps both. */
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
