import type { CallId, UserId } from "../../protocol/ids.ts"
import type { Answer } from "../definition/tool.ts"

const MAX_ENTRIES = 1000

interface Entry {
  readonly answer: Answer
  readonly until: number
  /** The call with this result. */
  readonly callId: CallId
  /** The result contains stored text that is marked as untrusted. */
  readonly taint?: "untrusted" | "folder"
}

/** Results of reads that declare `cacheSeconds`, reused in other runs of the same user until that user writes. */
export class ReadCache {
  readonly #byUser = new Map<UserId, Map<string, Entry>>()
  #size = 0

  find(user: UserId, key: string, now: number): Entry | undefined {
    const entry = this.#byUser.get(user)?.get(key)
    return entry && entry.until > now ? entry : undefined
  }

  keep(user: UserId, key: string, entry: Entry): void {
    if (this.#size >= MAX_ENTRIES) this.#clear()
    const entries = this.#byUser.get(user) ?? new Map<string, Entry>()
    if (!entries.has(key)) this.#size++
    this.#byUser.set(user, entries.set(key, entry))
  }

  forget(user: UserId): void {
    this.#size -= this.#byUser.get(user)?.size ?? 0
    this.#byUser.delete(user)
  }

  #clear(): void {
    this.#byUser.clear()
    this.#size = 0
  }
}
