import type { Conversation } from "../../engine/conversation.ts"
import type { LeftBehind } from "../../engine/journal.ts"
import type { ProposalId } from "../../protocol/ids.ts"
import { toRowText } from "./mirror-rows.ts"

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
  taken: Set<number> | undefined
  leftBehind: LeftBehind
  /** What the rows of its open proposals say, in the words of `toRowText`. */
  proposals: Map<ProposalId, string> | undefined
  /** The newest run as of the last commit: one that another has taken the place of since is no part of the fold any more. */
  run: Conversation["run"]
}

/**
 * On the fold itself and not by conversation: after a drop there may be two folds of one conversation in memory, and only the
 * newer one may be written with. A `WeakMap` would say the same, and cost every turn a fiftieth of its time.
 */
const BOOKKEEPING = Symbol("bookkeeping")
type Kept = Conversation & { readonly [BOOKKEEPING]?: Bookkeeping }

type Read = Pick<Bookkeeping, "key" | "fence" | "leftBehind">

const NOBODYS: Read = {
  key: 0,
  fence: 0,
  leftBehind: { owned: false, elsewhere: false, handedOver: false, unread: false },
}

/** That of a fold. One that no journal has read or written yet is nobody's. */
export function bookkeepingOf(conversation: Conversation): Bookkeeping {
  return (conversation as Kept)[BOOKKEEPING] ?? begin(conversation, NOBODYS, undefined)
}

/** For a fold that was just read: its open proposals are as their rows say. */
export function beginBookkeeping(conversation: Conversation, read: Read): void {
  let proposals: Bookkeeping["proposals"]
  for (const [id, proposal] of conversation.proposals) (proposals ??= new Map()).set(id, toRowText(proposal))
  begin(conversation, read, proposals)
}

function begin(
  conversation: Conversation,
  { key, fence, leftBehind }: Read,
  proposals: Bookkeeping["proposals"],
): Bookkeeping {
  const { run } = conversation
  const books = { key, fence, held: false, seen: 0, taken: undefined, leftBehind, proposals, run }
  // Not seen by whoever compares or copies folds: it is no part of what the journal says.
  Object.defineProperty(conversation, BOOKKEEPING, { value: books })
  return books
}
