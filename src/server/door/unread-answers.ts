import type { ServerResponse } from "node:http"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"

/** Bytes of answers that one person may leave unread. More than any program reads at once, far less than a server has. */
const MAX_UNREAD = 64 * 1024 * 1024
/** What counts at least for one that is sent piece by piece: what it is made of waits in memory behind it. */
const BEHIND_PIECES = 2 * 1024 * 1024
const SECONDS = 5

/**
 * Answers that were written and not read. Each is in memory until its reader has taken it, and who asks for many and reads
 * none would fill it: so nobody is answered further who has left too much. How long one may lie there says `listen.ts`.
 */
export class UnreadAnswers {
  readonly #most: number
  readonly #open = new Map<UserId, Set<ServerResponse>>()

  constructor(most = MAX_UNREAD) {
    this.#most = most
  }

  /** Throws `too_much_unread` where this person has to read first. */
  demandRoom(user: UserId): void {
    if (this.isFull(user)) throw failure("too_much_unread", { bytes: this.#most, seconds: SECONDS })
  }

  isFull(user: UserId): boolean {
    return this.bytesOf(user) > this.#most
  }

  /** What lies there. */
  bytesOf(user: UserId): number {
    let bytes = 0
    for (const answer of this.#open.get(user) ?? []) bytes += weightOf(answer)
    return bytes
  }

  /** To be told of every answer before it is written. Most are read by the time it is looked at them. */
  watch(user: UserId, answer: ServerResponse): void {
    setImmediate(() => {
      if (answer.writableFinished || answer.destroyed) return
      const open = this.#open.get(user) ?? new Set()
      this.#open.set(user, open.add(answer))
      answer.once("close", () => {
        open.delete(answer)
        if (open.size === 0 && this.#open.get(user) === open) this.#open.delete(user)
      })
    })
  }
}

function weightOf(answer: ServerResponse): number {
  const { writableLength, chunkedEncoding } = answer
  return writableLength > 0 && chunkedEncoding ? Math.max(writableLength, BEHIND_PIECES) : writableLength
}
