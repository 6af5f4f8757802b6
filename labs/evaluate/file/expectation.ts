import { RE2JS } from "re2js"
import { z } from "zod"
import { CallStatus } from "../../../core/protocol/conversation/message.ts"
import { RunStatus } from "../../../core/protocol/conversation/conversation.ts"
import { ProposalStatus } from "../../../core/protocol/proposals/proposal.ts"
import { JsonObject } from "../../../core/protocol/schema.ts"
import { tableNames } from "../../../core/protocol/workspace-tables.ts"

/** The expectations of a case. */

const Text = z.string().min(1)
/** A text, or several that must all be present. */
const someOf = (text: z.ZodString) =>
  z.union([text, z.array(text).min(1)], { error: "must be a text, or a list of texts" })
const Pattern = Text.superRefine((pattern, context) => {
  const fault = patternFault(pattern)
  if (fault !== undefined) context.addIssue({ code: "custom", message: `is no regular expression: ${fault}` })
})

/** `contains` searches words, ignoring case; `matches` is a regular expression with the syntax of RE2. */
const found = () => ({ contains: someOf(Text).optional(), matches: someOf(Pattern).optional() })
export const TextCheck = z.strictObject({ ...found(), not: z.strictObject(found()).optional() })
export type TextCheck = z.infer<typeof TextCheck>

/** `json`: the answer is JSON that contains this. */
const AnswerOf = TextCheck.extend({ json: z.unknown().optional() })
export type AnswerCheck = z.infer<typeof AnswerOf>
/** A plain text means `contains`. */
const AnswerCheck = z.union([Text.transform((contains): AnswerCheck => ({ contains })), AnswerOf], {
  error: "must be a text, or an object of contains, matches, json and not",
})

const named = (tool: string) => ({ tool })
const CallOf = z.strictObject({ tool: Text, arguments: JsonObject.optional(), status: CallStatus.optional() })
const ProposalOf = CallOf.extend({ status: ProposalStatus.optional() })
/** An expected call or proposal. Arguments that are not listed may have any value. */
export interface ExpectedCall {
  readonly tool: string
  readonly arguments?: JsonObject | undefined
  readonly status?: string | undefined
}

const listOf = (entry: typeof CallOf | typeof ProposalOf) =>
  z.array(
    z.union([Text.transform(named), entry], { error: "must be the name of a tool, or an object with tool" }),
  ) as unknown as z.ZodType<ExpectedCall[], unknown>

/** A plain list means `include`. */
const callsOf = (entry: typeof CallOf | typeof ProposalOf) =>
  z.union(
    [
      listOf(entry)
        .refine((list) => list.length > 0, { message: "is empty: exactly: [] says that there are none" })
        .transform((include) => ({ include })),
      z.strictObject({
        /** All of these in any order; others may be present. */
        include: listOf(entry).optional(),
        /** All of these in this order, with others in between. */
        inOrder: listOf(entry).optional(),
        /** Exactly these, in this order. */
        exactly: listOf(entry).optional(),
        /** None of these tools. */
        none: z.array(Text).optional(),
      }),
    ],
    { error: "must be a list, or an object of include, inOrder, exactly and none" },
  )
const CallCheck = callsOf(CallOf)
const ProposalCheck = callsOf(ProposalOf)
export interface SequenceCheck {
  readonly include?: readonly ExpectedCall[] | undefined
  readonly inOrder?: readonly ExpectedCall[] | undefined
  readonly exactly?: readonly ExpectedCall[] | undefined
  readonly none?: readonly string[] | undefined
}

const Count = z.number().int().min(0)
const TableCheck = z.strictObject({
  table: z.enum(tableNames),
  where: JsonObject.optional(),
  /** The number of matching rows. Default: at least one. */
  count: Count.optional(),
})
const QueryCheck = z
  .strictObject({
    sql: Text,
    /** The returned rows. Columns that a row does not list may have any value. */
    rows: z.array(JsonObject).optional(),
    count: Count.optional(),
  })
  .refine(({ rows, count }) => rows !== undefined || count !== undefined, { message: "needs rows, or count" })
/** Expects rows of the workspace, or rows of a SELECT in the database of the case. */
const RowCheck = z.union([TableCheck, QueryCheck], { error: "must have table, or sql" })
export type RowCheck = z.infer<typeof RowCheck>

const FileCheck = TextCheck.extend({ path: Text, exists: z.boolean().optional() })
export type FileCheck = z.infer<typeof FileCheck>

const JudgeOf = z.strictObject({
  /** The description of a good answer. */
  rubric: Text,
  /** The model that judges. Default: that of the file. */
  model: Text.optional(),
  /** The verdict in place of the judge's if the case plays a script. */
  script: z.strictObject({ pass: z.boolean(), reason: z.string() }).optional(),
})
export type JudgeCheck = z.infer<typeof JudgeOf>
const Judge = z.union([Text.transform((rubric): JudgeCheck => ({ rubric })), JudgeOf], {
  error: "must be a rubric, or an object of rubric, model and script",
})
const Judges = z.union([Judge.transform((one) => [one]), z.array(Judge).min(1)], {
  error: "must be a rubric, an object with rubric, or a list of these",
})

const Bound = z.number().min(0)
/** The limits of the whole conversation, without judges. */
const Limits = z.strictObject({
  costUsd: Bound.optional(),
  /** From the first message to the last reply, including models. */
  seconds: Bound.optional(),
  /** The same without the time of waiting for models. */
  secondsWithoutModel: Bound.optional(),
  modelCalls: Count.optional(),
  toolCalls: Count.optional(),
  tokens: Count.optional(),
  inputTokens: Count.optional(),
  outputTokens: Count.optional(),
})
export type EvalLimits = z.infer<typeof Limits>

/** The expectations about the answer to one message. */
export const AnswerExpectation = z.strictObject({
  answer: AnswerCheck.optional(),
  calls: CallCheck.optional() as unknown as z.ZodOptional<z.ZodType<SequenceCheck, unknown>>,
  proposals: ProposalCheck.optional() as unknown as z.ZodOptional<z.ZodType<SequenceCheck, unknown>>,
  /** The status of its run at the end. Default: any but `failed`. */
  ends: RunStatus.optional(),
})
export type AnswerExpectation = z.infer<typeof AnswerExpectation>

/** The expectations about the whole conversation, and about the state after it. */
export const Expectation = AnswerExpectation.extend({
  rows: z.array(RowCheck).min(1).optional(),
  files: z.array(FileCheck).min(1).optional(),
  judge: Judges.optional(),
  limits: Limits.optional(),
}).refine((expectation) => Object.keys(expectation).length > 0, { message: "expects nothing" })
export type Expectation = z.infer<typeof Expectation>

/** Whether the pattern matches, in linear time, because models write the text. */
export function hasPattern(pattern: string, text: string): boolean {
  return RE2JS.compile(pattern).matcher(text).find()
}

/** Returns the problem of a pattern; undefined if it is valid. */
function patternFault(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
