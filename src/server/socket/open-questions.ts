import type { ConversationId } from "../../protocol/ids.ts"
import type { ChatFrames } from "./chat-frames.ts"
import type { Subscription } from "../stream/subscription.ts"
import type { QuestionText } from "./question-text.ts"

/** What is told of a conversation over a socket, from words that were said there to their end. */
export interface OpenAnswer {
  readonly id: ConversationId
  readonly source: Subscription
  readonly frames: ChatFrames
}

/** A question as it was put, and the answer that goes on when it is decided. */
export interface OpenQuestion extends QuestionText {
  readonly answer: OpenAnswer
}

/** What whoever is at the other end has been asked since they last spoke, by conversation. Never changed, only replaced. */
export type OpenQuestions = ReadonlyMap<ConversationId, OpenQuestion>

export function withoutQuestion(asked: OpenQuestions, id: ConversationId): OpenQuestions {
  return new Map([...asked].filter(([other]) => other !== id))
}

/** Of all that was asked, what was asked after words had left that know only of `before`: it is still to be answered. */
export function askedSince(asked: OpenQuestions, before: OpenQuestions): OpenQuestions {
  return new Map([...asked].filter(([id, put]) => put !== before.get(id)))
}
