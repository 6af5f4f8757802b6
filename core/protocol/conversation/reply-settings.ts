import { z } from "zod"
import { boundedList } from "../../shared/text/bounded-list.ts"
import { plainErrors, schemaProblems } from "../../shared/text/schema-text.ts"
import { PersonText } from "../schema.ts"

/** How much a model may think before it answers, from none to the most. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

/**
 * Reply settings, for a server, an agent, a conversation or a message. Each level overrides the previous one for the
 * settings that it names. A setting that a model does not support is left out, and this is reported.
 */
const fields = {
  effort: z.enum(efforts, { message: `must be one of ${efforts.join(", ")}` }),
  /** Whether the model thinks, if it supports both. */
  thinking: z.boolean({ message: "must be true or false" }),
  /** The most thinking tokens, for models that support a limit. */
  thinkingTokens: z.int({ message: "must be a whole number" }).min(1024).max(1_000_000),
  temperature: z.number().min(0).max(2),
  /** The most output tokens, including thinking. */
  maxOutputTokens: z.int({ message: "must be a whole number" }).min(1).max(1_000_000),
  /** The reply ends before any of these strings. */
  stop: z.preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    boundedList(PersonText.min(1).max(100), 4, { least: 1 }),
  ),
  /** False: at most one tool call per reply. */
  parallelCalls: z.boolean({ message: "must be true or false" }),
} as const

/** The name of a reply setting, such as `effort` or `temperature`. */
export type SettingName = keyof typeof fields
/** The names of all reply settings. */
export const settingNames = Object.keys(fields) as readonly SettingName[]

const unknown = {
  error: (issue: { readonly code?: string }) => (issue.code === "unrecognized_keys" ? NAMES : undefined),
}
const NAMES = `there are only ${settingNames.join(", ")}`

/** Settings for how a model replies, such as effort and temperature. An omitted setting uses the provider's default. */
export const ReplySettings = z.strictObject(fields, unknown).partial()
export interface ReplySettings extends Readonly<z.infer<typeof ReplySettings>> {}

/** Changes to reply settings. Null removes a setting. */
export const ReplySettingsPatch = z
  .strictObject(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.nullable()])) as {
      readonly [Name in SettingName]: z.ZodNullable<(typeof fields)[Name]>
    },
    unknown,
  )
  .partial()
export interface ReplySettingsPatch extends Readonly<z.infer<typeof ReplySettingsPatch>> {}

/**
 * Parses settings from a command line, such as `effort=low temperature=0.2`; `off` removes one. Throws an error whose
 * message can be shown to the user.
 */
export function parseSettings(words: readonly string[]): ReplySettingsPatch {
  const given: Record<string, unknown> = {}
  for (const word of words) {
    const [, name, text] = /^([A-Za-z]+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || text === undefined)
      throw new RangeError(
        `"${word.slice(0, 60)}" is not a setting. Write NAME=VALUE, such as effort=low. Settings: ${settingNames.join(", ")}.`,
      )
    if (!Object.hasOwn(fields, name))
      throw new RangeError(`There is no reply setting "${name.slice(0, 60)}". Settings: ${settingNames.join(", ")}.`)
    const value = toValue(text)
    if (name === "stop" && typeof value === "string" && Array.isArray(given.stop)) given.stop.push(value)
    else given[name] = name === "stop" && value !== null ? [text] : value
  }
  const read = ReplySettingsPatch.safeParse(given, plainErrors)
  if (read.success) return read.data
  throw new RangeError(`${schemaProblems(read.error).slice(0, 400)}.`)
}

function toValue(text: string): unknown {
  if (text === "" || text === "default") return null
  if (/^(?:on|true|yes)$/.test(text)) return true
  if (/^(?:off|false|no)$/.test(text)) return false
  return /^-?[\d.]{1,20}$/.test(text) ? Number(text) : text
}

/** Applies changes to settings; null removes a setting. */
export function withSettings(first: ReplySettings, second: ReplySettingsPatch | undefined): ReplySettings {
  if (second === undefined || Object.keys(second).length === 0) return first
  const entries = Object.entries({ ...first, ...second }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}

/** Formats settings as on a command line: `effort=low temperature=0.2`. */
export function formatSettings(settings: ReplySettings): string {
  const words = Object.entries(settings).flatMap(([name, value]) => {
    const all = Array.isArray(value) ? value : [typeof value === "boolean" ? (value ? "on" : "off") : value]
    return all.map((each) => `${name}=${String(each)}`)
  })
  return words.join(" ")
}
