import { z } from "zod"
import { ReplySettings } from "../../../core/protocol/conversation/reply-settings.ts"
import { JsonObject, Mode } from "../../../core/protocol/schema.ts"
import { tableNames } from "../../../core/protocol/workspace-tables.ts"
import { AnswerExpectation, Expectation } from "./expectation.ts"
import { EvalScript } from "./script.ts"

/** The format of a file of cases. Unknown fields are refused. */

const Name = z.string().trim().min(1).max(200)
const oneOrMore = z.union([Name.transform((one) => [one]), z.array(Name).min(1)], {
  error: "must be a name, or a list of names",
})

/** Decisions about proposals: approve, reject, or leave them open, in which case the next message replaces them. */
const Yes = z.union([z.enum(["yes", "no", "leave"]), z.boolean().transform((said) => (said ? "yes" : "no"))])
export const Approve = z.union(
  [z.enum(["all", "none", "leave"]), z.array(Name), z.record(z.string(), Yes as z.ZodType<"yes" | "no" | "leave">)],
  { error: "must be all, none, leave, a list of tools, or tools with yes, no or leave" },
)
export type Approve = z.infer<typeof Approve>

const WordsOf = z.strictObject({
  text: z.string().min(1),
  /** Files of this machine to attach. */
  files: z.array(z.string().min(1)).optional(),
  approve: Approve.optional(),
  expect: AnswerExpectation.optional(),
})
export type EvalWords = z.infer<typeof WordsOf>
const Words = z.union(
  [
    z
      .string()
      .min(1)
      .transform((text): EvalWords => ({ text })),
    WordsOf,
  ],
  {
    error: "must be a text, or an object of text, files, approve and expect",
  },
)

const Database = z
  .strictObject({
    /** Statements that create it, or a SQLite file to copy. */
    sql: z.string().min(1).optional(),
    file: z.string().min(1).optional(),
    /** True if changes may be proposed. */
    writable: z.boolean().default(false),
  })
  .refine(({ sql, file }) => (sql === undefined) !== (file === undefined), {
    message: "needs sql or file, one of them",
  })

/** The state before the first message. Paths are relative to the file. */
const Start = z.strictObject({
  /** Rows by table. An `id` is a name that other rows of the case may refer to (`projectId`). */
  workspace: z.partialRecord(z.enum(tableNames), z.array(JsonObject)).optional(),
  /** Files of the work folder, by path. `folder` is copied into it first. */
  files: z.record(z.string().min(1), z.string()).optional(),
  folder: z.string().min(1).optional(),
  /** The database of the conversation: created for the case, or the sample shop. */
  database: z
    .union([z.literal("sample"), Database], { error: "must be sample, or an object of sql or file" })
    .optional(),
  /** Documents of the library, by name. `documentFiles` are files of this machine. */
  documents: z.record(z.string().min(1), z.string().min(1)).optional(),
  documentFiles: z.array(z.string().min(1)).optional(),
})
export type EvalStart = z.infer<typeof Start>

const Share = z.number().gt(0).max(1)
/** Settings of a file for all of its cases, or of one case. */
const common = () => ({
  agent: oneOrMore.optional(),
  model: oneOrMore.optional(),
  repeat: z.number().int().min(1).max(1000).optional(),
  /** The share of repeated runs that must pass. Default: all. */
  passRate: Share.optional(),
  mode: Mode.optional(),
  /** Reply settings for models: temperature, effort and so on. */
  settings: ReplySettings.optional(),
})

export const EvalCase = z.strictObject({
  name: Name,
  ...common(),
  start: Start.optional(),
  say: z.union([Words.transform((one) => [one]), z.array(Words).min(1)], {
    error: "must be a text, an object with text, or a list of these",
  }),
  approve: Approve.optional(),
  script: EvalScript.optional(),
  expect: Expectation,
})
export type EvalCase = z.infer<typeof EvalCase>

/** A share such as `20%`. */
const Percent = z
  .string()
  .regex(/^\d{1,4}(?:\.\d{1,3})?\s?%$/, { message: "must be a percentage such as 20%" })
  .transform((text) => Number.parseFloat(text) / 100)
/** How much worse than the baseline each figure may be. Missing figures are not compared. */
export const Tolerance = z.strictObject({
  cost: Percent.optional(),
  tokens: Percent.optional(),
  latency: Percent.optional(),
  latencyWithoutModel: Percent.optional(),
})
export type Tolerance = z.infer<typeof Tolerance>

export const EvalFile = z.strictObject({
  ...common(),
  /** The default model of judges. */
  judge: Name.optional(),
  /** The number of cases that run concurrently. */
  concurrency: z.number().int().min(1).max(64).default(4),
  tolerance: Tolerance.default({}),
  cases: z
    .array(EvalCase)
    .min(1)
    .superRefine((cases, context) => {
      const seen = new Set<string>()
      for (const [index, { name }] of cases.entries()) {
        if (seen.has(name))
          context.addIssue({ code: "custom", path: [index, "name"], message: `another case is called "${name}" too` })
        seen.add(name)
      }
    }),
})
export type EvalFile = z.infer<typeof EvalFile>
