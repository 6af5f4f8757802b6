import { z } from "zod"
import { boundedList, quoteIfNeeded, startOf, type TableName, tryReadJson } from "../../../core/pack.ts"
import { dateAndZone, dateInWords } from "./date-words.ts"
import type { Desk, Value } from "./desk.ts"
import { findRowByName } from "./find-row.ts"
import { EARLIEST, LATEST, LONGEST_DATE, readDate } from "./read-date.ts"

/** The type of an argument: converts lists, booleans, dates and names of a call to stored values, and back. */
export interface ArgumentKind {
  readonly schema: z.ZodType
  /** The most characters of its argument. People and imports may have written longer values. */
  readonly most?: number
  toColumn(given: unknown, desk: Desk): Promise<Value> | Value
  /** The argument that sets this value again, because an undo is a normal call. */
  toArgument(value: Value): unknown
  /** Converts a value for people. */
  show(value: Value, desk: Desk): unknown
  /** The same for a list, if a shorter form exists. */
  brief?(value: Value, desk: Desk): unknown
  /** True if both values mean the same to the person. Default: equality. */
  isSame?(before: Value, after: Value, desk: Desk): boolean
  /** Whether the change loses text that a user wrote. */
  loses(before: Value, after: Value): boolean
  /** `show` returns a phrase of Pawl's, in which text of others is already quoted. */
  readonly wordsItself?: true
  /** Converts a value for a proposal: without ids, and `in_progress` as words. Default: `show`. */
  propose?(value: Value, desk: Desk): string | null
  /** The table of the row that it refers to. */
  readonly refers?: TableName
}

/** Empties a nullable column. A null argument leaves the column unchanged. */
const NONE = "none"
const isNone = (text: string) => /^(?:none|nothing|never)$/i.test(text.trim())
const isFilled = (value: Value) => value !== null && value !== ""

const plain = (value: Value): unknown => value
const words = (value: Value): string | null => (value === null ? null : String(value).replaceAll("_", " "))

/** A name or a title: short, and never empty. */
export function name(most = 1000): ArgumentKind {
  return { ...text(most), schema: z.string().trim().min(1).max(most) }
}

/** Longer text. `optional`: an empty text empties the column. */
export function text(most = 500_000, { optional = false } = {}): ArgumentKind {
  return {
    schema: z.string().max(most),
    most,
    toColumn: (given) => (optional && String(given).trim() === "" ? null : String(given)),
    toArgument: (value) => value ?? "",
    show: plain,
    loses: isFilled,
  }
}

export function choice(options: z.ZodEnum, loses: ArgumentKind["loses"] = () => false): ArgumentKind {
  return { schema: options, toColumn: String, toArgument: plain, show: plain, loses, propose: words }
}

/** A list of names, stored as a JSON array. */
export const people: ArgumentKind = {
  schema: boundedList(z.string().trim().min(1).max(200), 50),
  toColumn: (given) => ((given as string[]).length > 0 ? JSON.stringify(given) : null),
  toArgument: toList,
  show: toList,
  loses: (before, after) => toList(before).some((person) => !toList(after).includes(person)),
}

/** A device may have stored a single value, as in earlier versions. */
function toList(value: Value): unknown[] {
  if (value === null || value === "") return []
  const list = tryReadJson(String(value))
  return Array.isArray(list) ? list : [String(value)]
}

/** Stored as 0 or 1. */
export const flag: ArgumentKind = {
  schema: z.boolean(),
  toColumn: (given) => (given ? 1 : 0),
  toArgument: (value) => value === 1,
  show: (value) => value === 1,
  loses: () => false,
}

/** Stored as a day, or in milliseconds if a time was given. `optional`: "none" empties the column. */
export function dateColumn({ optional = false } = {}): ArgumentKind {
  const none = (given: unknown) => optional && typeof given === "string" && isNone(given)
  // Checked before the proposal: text that is not a date in any time zone is refused.
  const isDate = async (given: string | number, context: z.RefinementCtx) => {
    if (none(given)) return
    const problem = await readDate(given, { now: 0, timeZone: "UTC" }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
  }
  return {
    schema: z.union([z.string().max(LONGEST_DATE), z.number().int().min(EARLIEST).max(LATEST)]).superRefine(isDate),
    toColumn: (given, desk) => (none(given) ? null : readDate(given as string | number, desk)),
    toArgument: (value) => value ?? NONE,
    // A person who approves a time sees its zone too. A list is always in the person's own zone.
    wordsItself: true,
    show: (value, { timeZone }) => (value === null ? null : dateAndZone(value, timeZone)),
    brief: (value, { timeZone }) => (value === null ? null : dateInWords(value, timeZone)),
    // Earlier versions stored a day as the midnight with which it starts.
    isSame: (before, after, { timeZone }) =>
      before === after ||
      (typeof before === "number" && typeof after === "string" && before === startOf(after, timeZone)),
    loses: () => false,
  }
}

/** A row of another table, by id or name, stored as its id. `optional`: "none" empties the column. */
export function reference(table: TableName, { optional = false } = {}): ArgumentKind {
  return {
    // Not empty: models write "" for arguments that they leave out, and that must not remove a reference.
    schema: z.string().trim().min(1).max(1000),
    refers: table,
    async toColumn(given, desk) {
      const name = String(given)
      return optional && isNone(name) ? null : String((await findRowByName(desk, table, name)).id)
    },
    toArgument: (value) => value ?? NONE,
    wordsItself: true,
    show: (value, { names }) => {
      const known = value === null ? undefined : names.get(String(value))
      if (known === undefined) return value === null ? null : quoteIfNeeded(String(value))
      return `${quoteIfNeeded(known)} (${value})`
    },
    propose: (value, { names }) => (value === null ? null : quoteIfNeeded(names.get(String(value)) ?? String(value))),
    loses: isFilled,
  }
}
