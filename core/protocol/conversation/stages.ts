import { z } from "zod"
import { JsonObject } from "../schema.ts"
import { Usage } from "./message.ts"

/** The decisions of a run's stages. Each is recorded as the `detail` of its `step`. */

/** A passage that a tool found. An answer cites it by number or as `[id]`; quotes are checked against this text. */
export const Source = z.object({
  id: z.string(),
  /** Its number in the conversation, as in `[1]`. Older servers did not record it. */
  number: z.number().int().optional(),
  title: z.string(),
  /** The text, as the model saw it. */
  passage: z.string(),
  /** SHA-256 of the stored passage, if it is stored. */
  hash: z.string().optional(),
  /** Its position in the document. */
  span: z.object({ start: z.number().int(), end: z.number().int() }).optional(),
  url: z.string().optional(),
  /** The authors, the date, and the name of its collection. */
  authors: z.array(z.string()).optional(),
  date: z.string().optional(),
  collectionName: z.string().optional(),
  documentId: z.string().optional(),
  collection: z.string().optional(),
  score: z.number().optional(),
})
export type Source = z.infer<typeof Source>

/** A model call of a stage: the model, the prompt, the number of tries until the reply was valid, and the usage. */
export const RecordedModelCall = z.object({
  model: z.string(),
  /** SHA-256 of the instructions and the reply's schema. Equal prompts have equal hashes. */
  promptHash: z.string(),
  /** A digest of the first request with these instructions. Older servers did not record it. */
  question: z.string().optional(),
  tries: z.number().int(),
  usage: Usage.optional(),
})
export type RecordedModelCall = z.infer<typeof RecordedModelCall>

/**
 * The detail of a `waiting` step: the provider that the run waits for, its error code, the duration, and the number of
 * the next request.
 */
export const Waiting = z.object({
  provider: z.string(),
  because: z.string(),
  seconds: z.number().int(),
  /** Older servers did not record these three. */
  until: z.string().optional(),
  attempt: z.number().int().optional(),
  attempts: z.number().int().optional(),
})
export type Waiting = z.infer<typeof Waiting>

/**
 * The detail of a `left_out` step: settings that the model does not support, or applies differently, and why. Reported
 * once.
 */
export const LeftOut = z.object({
  model: z.string(),
  settings: z.array(z.object({ name: z.string(), because: z.string() })),
})
export type LeftOut = z.infer<typeof LeftOut>

/** A step, as listed with messages. */
export const StepView = z.object({
  position: z.number().int(),
  /** The `seq` of the last message before it. */
  after: z.number().int(),
  step: z.string(),
  detail: z.unknown().optional(),
  asked: RecordedModelCall.optional(),
  at: z.string(),
})
export type StepView = z.infer<typeof StepView>

/**
 * The verdict on whether the question is in the agent's scope. `follow_up`: a short follow-up ("and tomorrow?") to a
 * question in scope, accepted without a model. `open`: no model could decide, `problem` says why, and the question is
 * accepted; writes still need approval.
 */
export const Guardrail = z.object({
  verdict: z.enum(["in_scope", "out_of_scope", "follow_up", "open"]),
  /** 0 to 100; null if no model was asked. */
  score: z.number().nullable(),
  threshold: z.number(),
  reason: z.string(),
  problem: z.string().optional(),
})
export type Guardrail = z.infer<typeof Guardrail>

/** The action that the model chose, derived from its reply. */
export const RouterChoice = z.object({
  action: z.enum(["call", "answer"]),
  /** The arguments of the first call. */
  tool: z.string().nullable(),
  arguments: JsonObject.nullable(),
  reasoning: z.string(),
  /** Further calls of the same reply. */
  more: z.array(z.object({ tool: z.string(), arguments: JsonObject })).optional(),
})
export type RouterChoice = z.infer<typeof RouterChoice>

/** Whether one found passage is relevant to the question, and why. */
export const Grade = z.object({ id: z.string(), relevant: z.boolean(), reason: z.string() })
export type Grade = z.infer<typeof Grade>

/**
 * How well the passages answer the question. `ungraded`: no model could decide, `problem` says why, and all passages
 * are used.
 */
export const Grading = z.object({
  evidence: z.enum(["enough", "thin", "none", "ungraded"]),
  grades: z.array(Grade),
  kept: z.array(z.string()),
  dropped: z.array(z.string()),
  /** A better search query, if another search is allowed. */
  rewrite: z.string().nullable(),
  /** How often this run has searched again, including this time. */
  rewrites: z.number().int(),
  problem: z.string().optional(),
})
export type Grading = z.infer<typeof Grading>

/** A citation marker in an answer, and its source. Without a `problem`, the source is known and contains the quote. */
export const Citation = z.object({
  marker: z.string(),
  /** The marker's position in the answer, in UTF-16 units. */
  at: z.number().int(),
  source: z.string().nullable(),
  hash: z.string().optional(),
  quote: z.string().optional(),
  /** The quote's position in the passage. */
  span: z.object({ start: z.number().int(), end: z.number().int() }).optional(),
  /** The text that the quote replaces with an ellipsis. */
  leftOut: z.array(z.string()).optional(),
  problem: z.enum(["unknown_source", "quote_not_found"]).optional(),
  /** For `quote_not_found`: the quoted text exists, but the omitted text may reverse its meaning. */
  because: z.enum(["left_out"]).optional(),
  /** Numbers in the sentence that are in none of its sources. */
  figures: z.array(z.string()).optional(),
  /**
   * How the sentence differs from a passage about the same subject, and that passage. This is a comparison of text,
   * not a verdict.
   */
  differs: z
    .object({ kind: z.enum(["negation", "swapped", "unit", "number", "year"]), passage: z.string() })
    .optional(),
  /** True if a quote was not checked, because the answer has too many. */
  unchecked: z.boolean().optional(),
})
export type Citation = z.infer<typeof Citation>

/** The `data` of an answer's message: its citation markers and their passages. */
export const AnswerData = z.object({
  kind: z.literal("citations"),
  citations: z.array(Citation),
  sources: z.array(Source),
  evidence: Grading.shape.evidence.nullable(),
  /** Quotes without a source that are in none of the found passages: position and text. */
  unmarked: z.array(z.object({ at: z.number().int(), quote: z.string() })).optional(),
  /** True if the answer cites nothing, although its run found passages. */
  citesNothing: z.boolean().optional(),
  /** How many quotes and markers were not checked, because there are too many. */
  unchecked: z.number().int().optional(),
})
export type AnswerData = z.infer<typeof AnswerData>

/** The basis of an answer. */
export const Generation = z.object({
  evidence: Grading.shape.evidence.nullable(),
  citations: z.number().int(),
  /** Citations without a source, with a quote or number that was not found, or with an unchecked quote. */
  flagged: z.number().int(),
  /** Quotes without a source that are in none of the found passages. Older servers did not record it. */
  unmarked: z.number().int().optional(),
  citesNothing: z.boolean().optional(),
  unchecked: z.number().int().optional(),
})
export type Generation = z.infer<typeof Generation>

/** The detail of a `routing` step: which of the agent's profiles match the user's message, and why. */
export const RouterDecision = z.object({
  /** Names of the matching profiles; empty if the router is unsure. */
  profiles: z.array(z.string()),
  /** The tools that the model is offered. If the router is unsure, all tools. */
  tools: z.array(z.string()),
  reason: z.string(),
  /** The score of each profile, if it was measured. */
  scores: z.record(z.string(), z.number()),
  /** Older servers also recorded `embedder`. */
  by: z.enum(["rules", "embedder", "unsure"]),
  /** How long the decision took. Older servers did not record it. */
  ms: z.number().optional(),
})
export type RouterDecision = z.infer<typeof RouterDecision>

/** Items that a summary includes word for word, in addition to the model's text. */
export const SummaryItems = z.object({
  /** The user's decisions about proposals, newest last. */
  decisions: z.array(z.string()),
  /** Open proposals. */
  proposals: z.array(z.string()),
  /** Sources that answers have cited, so that later answers can cite them again. */
  sources: z.array(z.object({ id: z.string(), number: z.number().int().optional(), title: z.string() })),
})
export type SummaryItems = z.infer<typeof SummaryItems>

/** Why no summary was written. Other values are error codes. */
export const NO_SUMMARY = {
  /** Every message must stay: the latest ones and their replies. */
  nothing: "nothing_to_sum_up",
  /** The operator turned summaries off, or the model cannot write one. */
  off: "switched_off",
  /** The process failed while it wrote the summary, twice. */
  died: "server_stopped",
  empty: "empty_reply",
} as const
