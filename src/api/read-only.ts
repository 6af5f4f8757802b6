import type { ConversationView } from "../protocol/conversation/conversation.ts"
import type { Message as ProtocolMessage, Usage as ProtocolUsage } from "../protocol/conversation/message.ts"
import type { Frame } from "../protocol/frames.ts"
import type { Proposal as ProtocolProposal } from "../protocol/proposals/proposal.ts"

/** What is read is a picture of what the journal says: changing it would change nothing, so it cannot be changed. */
export type ReadOnly<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly ReadOnly<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> }
      : Value

/** A conversation as it stands: who answers in it, in which mode, and whether it works or waits. */
export interface Conversation extends ReadOnly<ConversationView> {}

/** Something that was said, by a person, by the model, or by a tool. */
export interface Message extends ReadOnly<ProtocolMessage> {}

/** A write that waits, or has waited, for a person: what it would change, and what came of it. */
export interface Proposal extends ReadOnly<ProtocolProposal> {}

/** What model calls have used, as their provider counted. */
export interface Usage extends ReadOnly<ProtocolUsage> {}

/** A page of a list. `nextCursor` leads to the next one; null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * Something that happened in a conversation. `id` is its place: whoever goes on from there misses nothing and sees nothing
 * twice. `text_delta` is more of a reply that is being written; everything else is on record by the time it is told.
 */
export type PawlEvent = ReadOnly<Frame>
