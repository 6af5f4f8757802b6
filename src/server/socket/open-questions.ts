import type { ConversationId } from "../../protocol/ids.ts"
import type { ChatFrames } from "./chat-frames.ts"
import type { Subscription } from "../stream/subscription.ts"
import type { Question } from "./question-text.ts"

/** What is told of a conversation over a socket, from words that were said there to their end. */
export interface Answer {
  readonly id: ConversationId
  readonly source: Subscription
  readonly frames: ChatFrames
}

/** A question as it was put, and the answer that goes on when it is decided. */
export interface Put extends Question {
  readonly answer: Answer
}

/** What whoever is at the other end has been asked since they last spoke, by conversation. Never changed, only replaced. */
export type Asked = ReadonlyMap<ConversationId, Put>

export function without(asked: Asked, id: ConversationId): Asked {
  return new Map([...asked].filter(([other]) => other !== id))
}

/** Of all that was asked, what was asked after words had left that know only of `before`: it is still to be answered. */
export function since(asked: Asked, before: Asked): Asked {
  return new Map([...asked].filter(([id, put]) => put !== before.get(id)))
}
