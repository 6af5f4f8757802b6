import { readFileSync } from "node:fs"
import { z } from "zod"
import { CommandError } from "../../apps/cli/process/command.ts"
import { failureReason, jsonPosition } from "../../core/shared/text/system-errors.ts"
import { crashtestText } from "../../apps/strings/tests.ts"
import { plainErrors, schemaProblems } from "../../core/shared/text/schema-text.ts"

const ScriptedCall = z.strictObject({ name: z.string(), input: z.record(z.string(), z.unknown()).default({}) })

const Decided = z.enum(["yes", "no"])

/** The messages and decisions, and the model's replies, one for each request in order. */
export const CrashScenario = z.strictObject({
  agent: z.string().optional(),
  mode: z.enum(["confirm", "auto", "read-only"]).default("confirm"),
  say: z
    .union([z.string(), z.array(z.string()).min(1)])
    .transform((said) => (typeof said === "string" ? [said] : said)),
  /** Default: the offline model replies. */
  replies: z
    .array(z.strictObject({ text: z.string().default(""), calls: z.array(ScriptedCall).default([]) }))
    .min(1)
    .optional(),
  /** The most replies with calls in a run. Default: the agent's limit. */
  maxIterations: z.number().int().min(1).max(100).optional(),
  /** The decisions about the proposals, in order; the last one applies to all that follow. */
  decide: z
    .union([Decided, z.array(Decided).min(1)])
    .default("yes")
    .transform((decided) => (typeof decided === "string" ? [decided] : decided)),
  /** Writes that are safe to repeat. */
  mayRunAgain: z.array(z.string()).default([]),
})
export type CrashScenario = z.infer<typeof CrashScenario>

export function readScenario(file: string): CrashScenario {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw new CommandError(crashtestText.unreadable(file, failureReason(error)))
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new CommandError(crashtestText.notJson(file, jsonPosition(error)))
  }
  const read = CrashScenario.safeParse(json, plainErrors)
  if (read.success) return read.data
  throw new CommandError(crashtestText.notScenario(file, schemaProblems(read.error, crashtestText.scenario)))
}
