import type { Schema } from "../engine/definition/schema.ts"
import { type Audit, type Grants, openAudit, openGrants } from "./audit.ts"
import type { Answer } from "./answer.ts"
import { askAndWait, type AskOptions, streamAnswer } from "./ask.ts"
import type { PartialAnswer } from "./partial-answer.ts"
import { newestAnswer, observeRun } from "./observe.ts"
import { orClosed, type Parts, type PawlEvent, type PersonalParts, refuseClosed, untilClosed } from "./parts.ts"
import { type Conversations, type EventOptions, openConversations } from "./conversations.ts"
import { type Files, openPersonFiles } from "./files.ts"
import {
  type AGUINames,
  type RunEvents,
  toAGUIStreamResponse,
  toUIMessageStreamResponse,
  withOrigin,
} from "./run-response.ts"
import type { UserRecord } from "./people.ts"
import { openPersonQuestions, type Questions } from "./questions.ts"
import { openProposals, type Proposals } from "./proposals.ts"

/** The methods for one user: ask agents, read conversations, and decide about proposed changes. */
export interface Person {
  /** Sends a message and waits until the run ends or needs a decision. */
  ask<Value>(text: string, options: AskOptions & { readonly answers: Schema<Value> }): Promise<Answer<Value>>
  ask(text: string, options?: AskOptions): Promise<Answer>
  /**
   * Sends a message and yields the events of its run. The iterator returns the answer. If you stop iterating, the run
   * continues; read the rest with `observe`. With `answers`, it also yields the answer in progress (`partial`).
   */
  stream<Value>(
    text: string,
    options: AskOptions & { readonly answers: Schema<Value> },
  ): AsyncGenerator<PawlEvent | PartialAnswer<Value>, Answer<Value>, undefined>
  stream(text: string, options?: AskOptions): AsyncGenerator<PawlEvent, Answer, undefined>
  /**
   * Yields the events of a run until it ends, also through pauses, and also if another process started it. Takes the id
   * of a run, or of a conversation for its latest run. `after` is the id of the last event that you received. The
   * iterator returns the answer, and throws the signal's reason if `signal` aborts.
   */
  observe(runOrConversation: string, options?: EventOptions): AsyncGenerator<PawlEvent, Answer, undefined>
  /** Waits for the latest run of a conversation and returns its answer, for example after a decision or a restart. */
  answer(conversation: string): Promise<Answer>
  /**
   * Converts the events of `stream` or `observe` to the response that `useChat` of the AI SDK reads: `return
   * pawl.toUIMessageStreamResponse(pawl.stream(text))`. To serve whole chats with approvals and resuming, mount `fetch`.
   * With `observe` after a cursor it continues the page's message.
   */
  toUIMessageStreamResponse(events: RunEvents, init?: ResponseInit): Response
  /** Converts the events of `stream` or `observe` to the response that frontends of AG-UI read. */
  toAGUIStreamResponse(events: RunEvents, init?: AGUINames & ResponseInit): Response
  readonly proposals: Proposals
  readonly conversations: Conversations
  readonly files: Files
  readonly questions: Questions
  readonly audit: Audit
  readonly grants: Grants
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
    stream: ((text: string, options?: AskOptions) =>
      withOrigin((origin) => streamAnswer(personal, text, options, origin))) as Person["stream"],
    observe: (run, options) => withOrigin((origin) => observeRun(personal, run, options, origin)),
    answer: (conversation) => orClosed(parts, newestAnswer(personal, conversation)),
    toUIMessageStreamResponse: (events, init) => toUIMessageStreamResponse(personal, events, init),
    toAGUIStreamResponse: (events, init) => toAGUIStreamResponse(personal, events, init),
    proposals: untilClosed(parts, openProposals(personal)),
    conversations: untilClosed(parts, openConversations(personal)),
    questions: untilClosed(parts, openPersonQuestions(personal)),
    audit: untilClosed(parts, openAudit(personal)),
    grants: untilClosed(parts, openGrants(personal)),
    files: untilClosed(parts, openPersonFiles(personal)),
  }
}
