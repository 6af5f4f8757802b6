import type { Usage } from "../../protocol/conversation/message.ts"

/** What a stretch of a run was spent on. */
export type TimelineKind =
  /** A person's words. */
  | "words"
  | "model"
  /** A stage of the agent, such as a guardrail or its routing. */
  | "stage"
  | "call"
  /** For a person, for their program, or for a provider. */
  | "wait"
  /** What broke off and was begun anew, or went on with another model. */
  | "trouble"
  /** The history made room. */
  | "room"
  | "other"
  | "end"

/** One stretch of a run, or one moment. */
export interface TimelineEntry {
  /** The row of the journal that it begins with. */
  readonly position: number
  /** The row that it ended with, where that is another one. */
  endPosition?: number
  readonly kind: TimelineKind
  /** Of a trouble: something was asked for once more, the server went on after a crash, or another model answered. */
  readonly trouble?: "retry" | "restart" | "fallback"
  at: number
  /** How long it took; undefined for a moment. */
  ms?: number
  /** It had not ended at the last row that was read. */
  isOpen?: true
  readonly title: string
  /** One line on how it went. */
  detail?: string
  usage?: Usage
}
