import type { Question, SettledQuestion } from "../../protocol/conversation/questions.ts"
import type { JsonObject } from "../../protocol/schema.ts"

/** What a call needs that waits for others, for longer than tools take and perhaps than a process lives. */
export interface LastingCall {
  /** What was kept for it last, also by a process that has died since. */
  readonly kept: JsonObject | undefined
  /**
   * Puts on record what whoever takes the call up needs. From then on a crash leaves it neither in doubt nor interrupted: it is
   * run again, with this, and must go on with what was begun instead of beginning anew.
   */
  keep(what: JsonObject): Promise<void>
  /** Waits for something that is no work of ours: neither the time of the call nor that of its run counts meanwhile. */
  wait<T>(work: () => Promise<T>): Promise<T>
  /**
   * Puts a question to the person and waits for the first answer, for some minutes. Undefined where nobody is there who could
   * answer, where the call has asked too often, and while it asks already.
   */
  readonly ask: ((question: AskedQuestion) => Promise<SettledQuestion>) | undefined
}

export type AskedQuestion = Omit<Question, "id" | "callId" | "expiresAt">

/** The step that says what a call has kept. */
export const KEPT = "kept"
