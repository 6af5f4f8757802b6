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
/** A tool has asked the model something: what that has used. */
export const ASKED_MODEL = "asked_model"
/** A provider is waited for before it is asked again. */
export const WAITING = "waiting"
/** Settings were left out that the model does not know. */
export const LEFT_OUT = "left_out"
/** An answer that was promised to fit a schema was checked. */
export const ANSWER = "answer"

/**
 * The stages that an agent switches on, with its own words for them. They are steps of the one loop: each decision is
 * on record before anything follows from it, so that after a crash it is found and not asked for again.
 */
export interface Stages {
  /** Judges a person's words before anything is done for them. */
  readonly guardrail?: GuardrailStage
  /** Judges the passages that tools have found before the model answers from them. */
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
  /** What the searches of this run found and grading did not drop. */
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
  /** From 0 to 100: what scores less is out of scope. */
  readonly threshold: number
  readonly instructions: string
  readonly answer: Schema<{ readonly score: number; readonly reason: string }>
  /** What a person is told whose words are out of scope. `steered`: they came into a run that was at work on others. */
  decline(verdict: Guardrail, words: { readonly steered: boolean }): string
}

export interface GradingStage {
  readonly instructions: string
  readonly answer: Schema<{
    readonly grades: readonly Grade[]
    /** Other words to search with, where these passages do not answer the question. */
    readonly rewrite: string | null
  }>
  /** With this many relevant passages there is enough evidence, and no further search is asked for. */
  readonly enough: number
  /** How often a run is told to search again with other words. */
  readonly rewrites: number
}

/** Where a conversation stands with its stages. */
export interface StagesState {
  /** There are words that nobody has judged. */
  pending: boolean
  /** Up to this `seq` words have been judged, or answered without it. */
  judged: number
  /** The newest verdict of the newest run. */
  guardrail: Guardrail | undefined
  /** The words before those were what the agent is for: a plain follow-up ("why?") needs no new verdict. */
  wasInScope: boolean
  choice: RouterChoice | undefined
  /** Everything that was ever found here, by id: what answers may cite. */
  sources: ReadonlyMap<string, Source>
  /** The short number of each of them, by id, for as long as the conversation lasts. */
  numbers: ReadonlyMap<string, number>
  /** Of the newest run: what was found, and whether the newest reply's searches brought anything new. */
  found: string[]
  searched: "no" | "nothing_new" | "news"
  /** Ids that have come since the last grading; a search that found nothing counts too. */
  ungraded: string[]
  gradingPending: boolean
  grading: Grading | undefined
}

/** Shared by all that found nothing. Whoever adds to it makes a new one. */
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

/** A run of a staged agent that has nothing to gain from more calls: it has to answer now. */
export function mustAnswer({ grading, searched }: StagesState, { grading: stage }: Stages): boolean {
  // The same passages again: a model that goes round in a circle is stopped here, not at its limit.
  if (searched === "nothing_new") return true
  return stage !== undefined && grading !== undefined && isThin(grading) && grading.rewrite === null
}

export const passes = ({ verdict }: Guardrail): boolean => verdict === "in_scope" || verdict === "follow_up"

export const isThin = ({ evidence }: Pick<Grading, "evidence">): boolean => evidence === "thin" || evidence === "none"

/** What a person knows when they were told that settings were left out, to tell it once. */
export const toldSettings = ({ model, settings }: LeftOut): string[] =>
  settings.map(({ name, because }) => `${model} ${name} ${because}`)
