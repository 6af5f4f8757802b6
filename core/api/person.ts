import type { Schema } from "../engine/definition/schema.ts"
import { failure } from "../protocol/errors.ts"
import { isId } from "../protocol/ids.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { type Answer, answerOf, askAndWait, type AskOptions, streamAnswer } from "./ask.ts"
import { runAt } from "./follow.ts"
import { orClosed, type Parts, type PawlEvent, type PersonalParts, refuseClosed, untilClosed } from "./parts.ts"
import { type Conversations, openConversations } from "./conversations.ts"
import { type Files, openPersonFiles } from "./files.ts"
import { toUIMessageStreamResponse } from "./ui-message-stream.ts"
import type { UserRecord } from "./people.ts"
import { openProposals, type Proposals } from "./proposals.ts"

/** What one user can do: ask agents, read their conversations, and decide about proposed changes. */
export interface Person {
  /** Sends a message and waits until the run ends or needs a decision. */
  ask<Value>(text: string, options: AskOptions & { readonly answers: Schema<Value> }): Promise<Answer<Value>>
  ask(text: string, options?: AskOptions): Promise<Answer>
  /**
   * Sends a message and yields the events of its run. The iterator returns the answer. If you stop iterating, the run
   * continues; read the rest with `conversations.events`.
   */
  stream(text: string, options?: AskOptions): AsyncGenerator<PawlEvent, Answer, undefined>
  /** Waits for the latest run of a conversation and returns its answer, for example after a decision or a restart. */
  answer(conversation: string): Promise<Answer>
  /**
   * Converts the events of `stream` to the response that `useChat` of the AI SDK reads: `return
   * pawl.toUIMessageStreamResponse(pawl.stream(text))`. To serve whole chats with approvals and resuming, mount `fetch`.
   */
  toUIMessageStreamResponse(events: AsyncIterable<PawlEvent>, init?: ResponseInit): Response
  readonly proposals: Proposals
  readonly conversations: Conversations
  readonly files: Files
}

/** `find` resolves to the user's record, at each call, because the account can be deleted while the program works. */
export function openPerson(parts: Parts, find: () => Promise<UserRecord>): Person {
  const personal: PersonalParts = {
    ...parts,
    async user() {
      refuseClosed(parts)
      return (await orClosed(parts, find())).id
    },
  }
  return {
    ask: ((text: string, options?: AskOptions) =>
      orClosed(parts, askAndWait(personal, text, options))) as Person["ask"],
    stream: (text, options) => streamAnswer(personal, text, options),
    answer: (conversation) => orClosed(parts, newestAnswer(personal, conversation)),
    toUIMessageStreamResponse: (events, init) => toUIMessageStreamResponse(personal, events, init),
    proposals: untilClosed(parts, openProposals(personal)),
    conversations: untilClosed(parts, openConversations(personal)),
    files: untilClosed(parts, openPersonFiles(personal)),
  }
}

async function newestAnswer(parts: PersonalParts, conversation: string): Promise<Answer> {
  if (!isId("conv", conversation)) throw failure("not_found")
  const { id, position } = await conversationOf(parts.store, await parts.user(), conversation)
  const run = await runAt(parts, id, position)
  if (!run) throw failure("bad_request", { problem: `Nothing was asked in ${id} yet.` })
  return answerOf(parts, id, run)
}
