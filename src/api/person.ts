import type { Schema } from "../agent/definition/schema.ts"
import { failure } from "../protocol/errors.ts"
import { isId } from "../protocol/ids.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { type Answer, answerOf, runAt } from "./answer.ts"
import { askAndWait, type AskOptions, streamAnswer } from "./ask.ts"
import { orClosed, refuseClosed, untilClosed } from "./closed.ts"
import { type Conversations, openConversations } from "./conversations.ts"
import type { Parts, PersonalParts } from "./parts.ts"
import { openProposals, type Proposals } from "./proposals.ts"
import type { PawlEvent } from "./read-only.ts"

/** What one person can ask, see and decide. */
export interface Person {
  /** Asks, and waits for the answer, or for what a person has to decide first. */
  ask<Value>(text: string, options: AskOptions & { readonly answers: Schema<Value> }): Promise<Answer<Value>>
  ask(text: string, options?: AskOptions): Promise<Answer>
  /**
   * Asks, and tells what happens as it happens; what the iteration returns is the answer. Who stops iterating stops
   * watching: the work goes on, and `conversations.events` goes on telling.
   */
  stream(text: string, options?: AskOptions): AsyncGenerator<PawlEvent, Answer, undefined>
  /** How what was asked last in a conversation ended, waited for where it is still at work: after a decision, or in a next life. */
  answer(conversation: string): Promise<Answer>
  readonly proposals: Proposals
  readonly conversations: Conversations
}

export function openPerson(parts: Parts, name: string): Person {
  const personal: PersonalParts = {
    ...parts,
    async user() {
      refuseClosed(parts)
      return (await orClosed(parts, parts.store.people.ensure(name, parts.store.clock.now()))).id
    },
  }
  return {
    ask: ((text: string, options?: AskOptions) =>
      orClosed(parts, askAndWait(personal, text, options))) as Person["ask"],
    stream: (text, options) => streamAnswer(personal, text, options),
    answer: (conversation) => orClosed(parts, newestAnswer(personal, conversation)),
    proposals: untilClosed(parts, openProposals(personal)),
    conversations: untilClosed(parts, openConversations(personal)),
  }
}

async function newestAnswer(parts: PersonalParts, conversation: string): Promise<Answer> {
  if (!isId("conv", conversation)) throw failure("not_found")
  const { id, position } = await conversationOf(parts.store, await parts.user(), conversation)
  const run = await runAt(parts, id, position)
  if (!run) throw failure("bad_request", { problem: `Nothing was asked in ${id} yet.` })
  return answerOf(parts, id, run)
}
