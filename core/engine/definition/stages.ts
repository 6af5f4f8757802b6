import type {
  AnswerData,
  Citation,
  Grade,
  Grading,
  Guardrail,
  LeftOut,
  RouterChoice,
  Source,
} from "../../protocol/conversation/stages.ts"
import type { Schema } from "./schema.ts"

/** Names of steps, as streams show them. */
export const GUARDRAIL = "guardrail"
export const OUT_OF_SCOPE = "out_of_scope"
export const ROUTING = "routing"
export const EXECUTING = "executing"
export const GRADING = "grading"
export const GENERATION = "generation"
/** A tool has called the model: its usage. */
export const TOOL_MODEL_CALL = "asked_model"
/** Waiting before a provider is asked again. */
export const WAITING = "waiting"
/** Settings that the model does not support were left out. */
export const LEFT_OUT = "left_out"
/** An answer that must fit a schema was checked. */
export const ANSWER = "answer"

/**
 * The stages of an agent. They are steps of the loop: each decision is recorded before it takes effect, so that it is
 * not made again after a crash.
 */
export interface Stages {
  /** Judges a user's message before anything is done for it. */
  readonly guardrail?: GuardrailStage
  /** Grades the passages that tools found, before the model answers with them. */
  readonly grading?: GradingStage
  /** Checks what a reply cites. The result is recorded with the reply, so it is not computed again. */
  readonly citations?: CitationCheck
}

export type CitationCheck = (answer: AnswerToCheck) => Promise<CitationReport>

export interface AnswerToCheck {
  readonly text: string
  /** The user's recent messages: numbers and quotes in them need no source. */
  readonly userText: string
  /** Everything that the conversation's searches found, by each marker that names it: its id and its number. */
  readonly sources: ReadonlyMap<string, Source>
  /** The results of this run's searches, without those that grading dropped. */
  readonly found: readonly Source[]
}

export interface CitationReport {
  readonly citations: readonly Citation[]
  /** Quotes without a source that are in none of the sources. */
  readonly unmarked: NonNullable<AnswerData["unmarked"]>
  /** How many quotes and markers were not checked, because there are too many. */
  readonly unchecked: number
  /** The text cites nothing, although it repeats what was found. */
  readonly citesNothing: boolean
}

export interface GuardrailStage {
  /** From 0 to 100. A lower score is out of scope. */
  readonly threshold: number
  readonly instructions: string
  readonly answer: Schema<{ readonly score: number; readonly reason: string }>
  /** The reply to a message that is out of scope. `steered`: the message joined a run that was working on another. */
  decline(verdict: Guardrail, words: { readonly steered: boolean }): string
}

export interface GradingStage {
  readonly instructions: string
  readonly answer: Schema<{
    readonly grades: readonly Grade[]
    /** Other words for another search, if these passages do not answer the question. */
    readonly rewrite: string | null
  }>
  /** With this many relevant passages no further search is requested. */
  readonly enough: number
  /** How often a run searches again with other words. */
  readonly rewrites: number
}

/** The state of the stages in a conversation. */
export interface StagesState {
  /** True if a message was not judged. */
  pending: boolean
  /** Messages up to this `seq` were judged, or answered without a verdict. */
  judged: number
  /** The last verdict of the newest run. */
  guardrail: Guardrail | undefined
  /** The messages before were in scope. A plain follow-up ("why?") then needs no new verdict. */
  wasInScope: boolean
  choice: RouterChoice | undefined
  /** Everything that searches found in this conversation, by id. Answers may cite it. */
  sources: ReadonlyMap<string, Source>
  /** The short number of each source, by id, for the whole conversation. */
  numbers: ReadonlyMap<string, number>
  /** The results of the newest run's searches, and whether the searches of the last reply found anything new. */
  found: string[]
  searched: "no" | "nothing_new" | "news"
  /** Ids found since the last grading. A search without results counts, too. */
  ungraded: string[]
  gradingPending: boolean
  grading: Grading | undefined
}

/** Shared by all conversations without sources. Copy it to add an entry. */
const NONE: ReadonlyMap<string, never> = new Map<string, never>()

export const noStages = (): StagesState => ({
  pending: false,
  judged: 0,
  guardrail: undefined,
  wasInScope: false,
  choice: undefined,
  sources: NONE,
  numbers: NONE,
  found: [],
  searched: "no",
  ungraded: [],
  gradingPending: false,
  grading: undefined,
})

/** True if more calls cannot help, so that the model must answer now. */
export function mustAnswer({ grading, searched }: StagesState, { grading: stage }: Stages): boolean {
  // The same passages again: a model that repeats its searches is stopped now and not at its limit.
  if (searched === "nothing_new") return true
  return stage !== undefined && grading !== undefined && isThin(grading) && grading.rewrite === null
}

export const passes = ({ verdict }: Guardrail): boolean => verdict === "in_scope" || verdict === "follow_up"

export const isThin = ({ evidence }: Pick<Grading, "evidence">): boolean => evidence === "thin" || evidence === "none"

/** Keys for the settings that were reported as left out, so that each is reported once. */
export const settingKeys = ({ model, settings }: LeftOut): string[] =>
  settings.map(({ name, because }) => `${model} ${name} ${because}`)
