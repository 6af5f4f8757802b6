import type { Conversation } from "../../agent/conversation.ts"
import type { LeftBehind } from "../../agent/journal.ts"
import type { ProposalId } from "../../protocol/ids.ts"

/** What the journal knows of a fold that it has given out, beside what the fold says. */
export interface Bookkeeping {
  /** The key of the conversation's row. */
  key: number
  /** Counts the writers the conversation has had; an append with an older one is refused. */
  fence: number
  /** This node is the writer now, with this fold. */
  held: boolean
  /** How many of the inputs that ever arrived the fold's `inbox` has been read up to. */
  seen: number
  /** Numbers that have been taken from the inbox: a look that was under way meanwhile must not bring them back. */
  readonly taken: Set<number>
  leftBehind: LeftBehind
  /** What the rows of its open proposals say, in the words of `toRowText`. */
  readonly proposals: Map<ProposalId, string>
}

/**
 * By fold and not by conversation: after a drop there may be two folds of one conversation in memory, and only the newer
 * one may be written with. Forgotten with its fold.
 */
const kept = new WeakMap<Conversation, Bookkeeping>()

/** That of a fold. One that no journal has read or written yet is nobody's. */
export function bookkeepingOf(conversation: Conversation): Bookkeeping {
  let books = kept.get(conversation)
  if (!books) {
    const leftBehind = { owned: false, elsewhere: false, handedOver: false, unread: false }
    books = { key: 0, fence: 0, held: false, seen: 0, taken: new Set(), leftBehind, proposals: new Map() }
    kept.set(conversation, books)
  }
  return books
}
