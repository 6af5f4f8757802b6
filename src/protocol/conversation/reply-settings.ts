import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { PersonText } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** How hard a model may think before it answers, from not at all to as hard as it can. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

/**
 * How a model is to reply. The same words count for a server, an agent, a conversation and a message; each takes what the
 * one before it has said, and says only what is to be otherwise. What a model does not know is left out, and told.
 */
const fields = {
  effort: lazily(() => z.enum(efforts, { message: `must be one of ${efforts.join(", ")}` })),
  /** Whether it thinks at all, for models that leave the choice. */
  thinking: lazily(() => z.boolean({ message: "must be true or false" })),
  /** How many tokens it may think with, for models that count them. */
  thinkingTokens: lazily(() => z.int({ message: "must be a whole number" }).min(1024).max(1_000_000)),
  temperature: lazily(() => z.number().min(0).max(2)),
  /** The longest reply, thinking included. */
  maxOutputTokens: lazily(() => z.int({ message: "must be a whole number" }).min(1).max(1_000_000)),
  /** Where one of these would stand the reply ends. */
  stop: lazily(() =>
    z.preprocess(
      (value) => (typeof value === "string" ? [value] : value),
      boundedList(PersonText.min(1).max(100), 4, { least: 1 }),
    ),
  ),
  /** False: one call at a time. */
  parallelCalls: lazily(() => z.boolean({ message: "must be true or false" })),
} as const

export type SettingName = keyof typeof fields
export const settingNames = Object.keys(fields) as readonly SettingName[]

const unknown = {
  error: (issue: { readonly code?: string }) => (issue.code === "unrecognized_keys" ? NAMES : undefined),
}
const NAMES = `there are only ${settingNames.join(", ")}`

export const ReplySettings = lazily(() => z.strictObject(fields, unknown).partial())
export interface ReplySettings extends Readonly<z.infer<typeof ReplySettings>> {}

/** What changes of them: null takes back what was set. */
export const ReplySettingsPatch = lazily(() =>
  z
    .strictObject(
      Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.nullable()])) as {
        readonly [Name in SettingName]: z.ZodNullable<(typeof fields)[Name]>
      },
      unknown,
    )
    .partial(),
)
export interface ReplySettingsPatch extends Readonly<z.infer<typeof ReplySettingsPatch>> {}

/** `effort=low temperature=0.2`, as a command is given them: each a name and a value, where `off` takes back. Throws a sentence. */
export function readSettingWords(words: readonly string[]): ReplySettingsPatch {
  const given: Record<string, unknown> = {}
  for (const word of words) {
    const [, name, text] = /^([A-Za-z]+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || text === undefined)
      throw new RangeError(
        `"${word.slice(0, 60)}" is no setting; say for instance effort=low. There are: ${settingNames.join(", ")}.`,
      )
    const value = toValue(text)
    if (name === "stop" && typeof value === "string" && Array.isArray(given.stop)) given.stop.push(value)
    else given[name] = name === "stop" && value !== null ? [text] : value
  }
  const read = ReplySettingsPatch.safeParse(given)
  if (read.success) return read.data
  const problems = read.error.issues.map(({ path, message }) => [...path.map(String), message].join(": "))
  throw new RangeError(`${problems.slice(0, 3).join("; ").slice(0, 400)}.`)
}

function toValue(text: string): unknown {
  if (text === "" || text === "default") return null
  if (/^(?:on|true|yes)$/.test(text)) return true
  if (/^(?:off|false|no)$/.test(text)) return false
  return /^-?[\d.]{1,20}$/.test(text) ? Number(text) : text
}
