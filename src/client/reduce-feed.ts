import type { ConversationView } from "../protocol/conversation/conversation.ts"
import type { UnknownFrame } from "../protocol/frames.ts"
import type { Proposal } from "../protocol/proposals/proposal.ts"
import { isFrame } from "./is-frame.ts"

/** What a person is shown of all their conversations. Never changed in place. */
export interface FeedList {
  /** Newest first; those that the feed has told of, and pages that were added. */
  readonly conversations: readonly ConversationView[]
  /** What waits for a decision in any conversation, and what expired before the person saw it. */
  readonly proposals: readonly Proposal[]
}

export const emptyFeed: FeedList = { conversations: [], proposals: [] }

/** The list after one more frame of the feed. A frame of a newer server changes nothing. */
export function reduceFeed(list: FeedList, frame: UnknownFrame): FeedList {
  if (isFrame(frame, "snapshot")) {
    const { conversations, proposals } = frame.data
    // A page that was added before stays; but what lies between the newest and is not among them was deleted meanwhile.
    const last = conversations.at(-1)
    const older = last ? list.conversations.filter(({ id, createdAt }) => isBefore({ id, createdAt }, last)) : []
    return { conversations: [...conversations, ...older], proposals: proposals.filter(isOpen) }
  }
  if (isFrame(frame, "conversation")) {
    const { conversation, proposals } = frame.data
    const others = list.proposals.filter(({ conversationId }) => conversationId !== conversation.id)
    return {
      conversations: merge(list.conversations, [conversation]),
      proposals: [...proposals.filter(isOpen), ...others],
    }
  }
  if (isFrame(frame, "conversation_deleted")) return withoutConversation(list, frame.data.conversationId)
  return list
}

/** The list with a page of older conversations. */
export const withConversations = (list: FeedList, page: readonly ConversationView[]): FeedList => ({
  ...list,
  conversations: merge(list.conversations, page),
})

/** The list without a conversation, as when this very page has deleted it. */
export const withoutConversation = ({ conversations, proposals }: FeedList, deleted: string): FeedList => ({
  conversations: conversations.filter(({ id }) => id !== deleted),
  proposals: proposals.filter(({ conversationId }) => conversationId !== deleted),
})

/** What was told later counts, wherever it comes from: a position only grows. */
function merge(known: readonly ConversationView[], fresh: readonly ConversationView[]): ConversationView[] {
  const byId = new Map(known.map((conversation) => [conversation.id, conversation]))
  for (const conversation of fresh) {
    const before = byId.get(conversation.id)
    if (!before || before.position <= conversation.position) byId.set(conversation.id, conversation)
  }
  return [...byId.values()].sort((a, b) => (isBefore(a, b) ? 1 : -1))
}

type Dated = Pick<ConversationView, "id" | "createdAt">

const isBefore = (a: Dated, b: Dated) => (a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt)

const isOpen = ({ status, seenAt }: Proposal) =>
  status === "pending" || status === "in_doubt" || (status === "expired" && seenAt === undefined)
