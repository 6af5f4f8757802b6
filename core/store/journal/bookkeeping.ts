import type { Conversation } from "../../engine/conversation.ts"
import type { LastWriterState } from "../../engine/journal.ts"
import type { ProposalId } from "../../protocol/ids.ts"
import { toRowText } from "./mirror-rows.ts"

/** Facts that the journal adds to a conversation in memory. */
export interface Bookkeeping {
  /** The key of the conversation's row. */
  key: number
  /** Counts the writers that the conversation has had; an append with an older one is refused. */
  fence: number
  /** Whether this node is the writer, with this state. */
  held: boolean
  /** The number of arrived inputs up to which the state's `inbox` has been read. */
  seen: number
  /** Numbers of consumed inbox rows. A read that was in flight meanwhile must not bring them back. */
  taken: Set<number> | undefined
  leftBehind: LastWriterState
  /** The rows of its open proposals, as `toRowText`. */
  proposals: Map<ProposalId, string> | undefined
  /** The newest run at the last commit. The state no longer contains it when another run has replaced it. */
  run: Conversation["run"]
}

/**
 * Stored on the object and not by conversation: after a drop there may be two states of one conversation in memory, and
 * only the newer one may be written with. A `WeakMap` would work too, but takes a fiftieth of a turn's time.
 */
const BOOKKEEPING = Symbol("bookkeeping")
type WithBookkeeping = Conversation & { readonly [BOOKKEEPING]?: Bookkeeping }

type Read = Pick<Bookkeeping, "key" | "fence" | "leftBehind">

const UNREAD: Read = {
  key: 0,
  fence: 0,
  leftBehind: { owned: false, elsewhere: false, handedOver: false, unread: false },
}

/** The bookkeeping of a state. A state that was neither read nor written yet has no owner. */
export function bookkeepingOf(conversation: Conversation): Bookkeeping {
  return (conversation as WithBookkeeping)[BOOKKEEPING] ?? attach(conversation, UNREAD, undefined)
}

/** For a state that was just read: its open proposals are as their rows. */
export function attachBookkeeping(conversation: Conversation, read: Read): void {
  let proposals: Bookkeeping["proposals"]
  for (const [id, proposal] of conversation.proposals) (proposals ??= new Map()).set(id, toRowText(proposal))
  attach(conversation, read, proposals)
}

function attach(
  conversation: Conversation,
  { key, fence, leftBehind }: Read,
  proposals: Bookkeeping["proposals"],
): Bookkeeping {
  const { run } = conversation
  const bookkeeping = { key, fence, held: false, seen: 0, taken: undefined, leftBehind, proposals, run }
  // Not enumerable, so that it is ignored when states are compared or copied.
  Object.defineProperty(conversation, BOOKKEEPING, { value: bookkeeping })
  return bookkeeping
}
