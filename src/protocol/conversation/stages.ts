import { z } from "zod"
import { Usage } from "./message.ts"
import { JsonObject } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** What the stages of a run decide, each on record as the detail of its `step`. */

/** A passage that a tool has found. An answer cites it by number, or as `[id]`; what it cites is checked against these very words. */
export const Source = lazily(() =>
  z.object({
    id: z.string(),
    /** Its short number in this conversation: `[1]`. Not in what an older server has recorded. */
    number: z.number().int().optional(),
    title: z.string(),
    /** The words themselves, as they were shown to the model. */
    passage: z.string(),
    /** SHA-256 of the passage as it is kept, where it is kept. */
    hash: z.string().optional(),
    /** Where it stands in its document. */
    span: z.object({ start: z.number().int(), end: z.number().int() }).optional(),
    url: z.string().optional(),
    /** Who wrote it and when, and what the person calls the collection that it is in. */
    authors: z.array(z.string()).optional(),
    date: z.string().optional(),
    collectionName: z.string().optional(),
    documentId: z.string().optional(),
    collection: z.string().optional(),
    score: z.number().optional(),
  }),
)
export type Source = z.infer<typeof Source>

/** Which model was asked, with what, how often until its answer fitted, and what that has used. */
export const AskedModel = lazily(() =>
  z.object({
    model: z.string(),
    /** SHA-256 of the instructions and the shape that was asked for: the same prompt, the same hash. */
    promptHash: z.string(),
    /** A digest of what was asked with these instructions, the first time; not in what an older server has recorded. */
    question: z.string().optional(),
    tries: z.number().int(),
    usage: Usage.optional(),
  }),
)
export type AskedModel = z.infer<typeof AskedModel>

/** Of the step `waiting`: whom the run waits for, the code of what it answered, for how long, and which request follows. */
export const Waiting = lazily(() =>
  z.object({
    provider: z.string(),
    because: z.string(),
    seconds: z.number().int(),
    /** These three are not in what an older server has recorded. */
    until: z.string().optional(),
    attempt: z.number().int().optional(),
    attempts: z.number().int().optional(),
  }),
)
export type Waiting = z.infer<typeof Waiting>

/** Of the step `left_out`: what was set and the model does not take, or not as it was meant, each with why. Told once. */
export const LeftOut = lazily(() =>
  z.object({
    model: z.string(),
    settings: z.array(z.object({ name: z.string(), because: z.string() })),
  }),
)
export type LeftOut = z.infer<typeof LeftOut>

/** A step as it is read beside messages. */
export const StepView = lazily(() =>
  z.object({
    position: z.number().int(),
    /** The `seq` of the message that it came after: the highest there was. */
    after: z.number().int(),
    step: z.string(),
    detail: z.unknown().optional(),
    asked: AskedModel.optional(),
    at: z.string(),
  }),
)
export type StepView = z.infer<typeof StepView>

/**
 * Whether what a person asks is what the agent is for. `follow_up`: short words after a question that was, nobody was
 * asked. `open`: nobody could be asked, and `problem` says why; tools have gates of their own.
 */
export const Guardrail = lazily(() =>
  z.object({
    verdict: z.enum(["in_scope", "out_of_scope", "follow_up", "open"]),
    /** 0 to 100; null where nobody was asked. */
    score: z.number().nullable(),
    threshold: z.number(),
    reason: z.string(),
    problem: z.string().optional(),
  }),
)
export type Guardrail = z.infer<typeof Guardrail>

/** What the model chose to do: derived from its reply, whose calls it repeats. */
export const RouterChoice = lazily(() =>
  z.object({
    action: z.enum(["call", "answer"]),
    /** Of the first call. */
    tool: z.string().nullable(),
    arguments: JsonObject.nullable(),
    reasoning: z.string(),
    /** Further calls of the same reply. */
    more: z.array(z.object({ tool: z.string(), arguments: JsonObject })).optional(),
  }),
)
export type RouterChoice = z.infer<typeof RouterChoice>

export const Grade = lazily(() => z.object({ id: z.string(), relevant: z.boolean(), reason: z.string() }))
export type Grade = z.infer<typeof Grade>

/** How good the passages are that have come. `ungraded`: nobody could be asked, all are kept, and `problem` says why. */
export const Grading = lazily(() =>
  z.object({
    evidence: z.enum(["enough", "thin", "none", "ungraded"]),
    grades: z.array(Grade),
    kept: z.array(z.string()),
    dropped: z.array(z.string()),
    /** Other words to search with, while another search is allowed. */
    rewrite: z.string().nullable(),
    /** How often this run was told to search again, this time included. */
    rewrites: z.number().int(),
    problem: z.string().optional(),
  }),
)
export type Grading = z.infer<typeof Grading>

/** A marker in an answer, and what it is bound to. Without a `problem` its passage is known, and holds what is quoted. */
export const Citation = lazily(() =>
  z.object({
    marker: z.string(),
    /** Where the marker begins in the answer, in UTF-16 units. */
    at: z.number().int(),
    source: z.string().nullable(),
    hash: z.string().optional(),
    quote: z.string().optional(),
    /** Where the quote stands in the passage. */
    span: z.object({ start: z.number().int(), end: z.number().int() }).optional(),
    /** What the passage has where the quote has dots. */
    leftOut: z.array(z.string()).optional(),
    problem: z.enum(["unknown_source", "quote_not_found"]).optional(),
    /** Of `quote_not_found`: its words stand there, but some were left out that may turn them round. */
    because: z.enum(["left_out"]).optional(),
    /** Numbers of its sentence that stand in none of the sources that the sentence names. */
    figures: z.array(z.string()).optional(),
    /** A quote of it was not looked for: the answer quotes too much. */
    unchecked: z.boolean().optional(),
  }),
)
export type Citation = z.infer<typeof Citation>

/** What stands beside an answer as its message's `data`: its markers, and the passages that they point at. */
export const AnswerData = lazily(() =>
  z.object({
    kind: z.literal("citations"),
    citations: z.array(Citation),
    sources: z.array(Source),
    evidence: Grading.shape.evidence.nullable(),
    /** Quotes that name no source and stand in nothing that was found: where, and their words. */
    unmarked: z.array(z.object({ at: z.number().int(), quote: z.string() })).optional(),
    /** It has no marker at all, though its own turn has found what it speaks of. */
    citesNothing: z.boolean().optional(),
    /** How many of its quotes and markers were not checked, because there are too many. */
    unchecked: z.number().int().optional(),
  }),
)
export type AnswerData = z.infer<typeof AnswerData>

/** How an answer was written: what it rests on. */
export const Generation = lazily(() =>
  z.object({
    evidence: Grading.shape.evidence.nullable(),
    citations: z.number().int(),
    /** Of these: bound to nothing, with a quote or a number that is not there, or with one that was not looked for. */
    flagged: z.number().int(),
    /** Beside them: quotes that name no source and stand in nothing that was found. Not in what an older server has recorded. */
    unmarked: z.number().int().optional(),
    citesNothing: z.boolean().optional(),
    unchecked: z.number().int().optional(),
  }),
)
export type Generation = z.infer<typeof Generation>
