import { z } from "zod"
import { boundedList, quoteIfNeeded, startOf, type TableName, tryReadJson } from "../../../core/pack.ts"
import { dateAndZone, dateInWords } from "./date-words.ts"
import type { Desk, Value } from "./desk.ts"
import { findRowByName } from "./find-row.ts"
import { EARLIEST, LATEST, LONGEST_DATE, readDate } from "./read-date.ts"

/** The type of an argument: converts lists, booleans, dates and names of a call to stored values, and back. */
export interface Kind {
  readonly schema: z.ZodType
  /** Characters that an argument of it may have. People and imports may have written more. */
  readonly most?: number
  toColumn(given: unknown, desk: Desk): Promise<Value> | Value
  /** The argument that sets this value again: what takes a change back is a call like any other. */
  toArgument(value: Value): unknown
  /** As a person reads it. */
  show(value: Value, desk: Desk): unknown
  /** The same in a line of many, where that is shorter. */
  brief?(value: Value, desk: Desk): unknown
  /** Whether the one is as good as the other for the person; without, where they are equal. */
  isSame?(before: Value, after: Value, desk: Desk): boolean
  /** Whether the change loses text that a user wrote. */
  loses(before: Value, after: Value): boolean
  /** `show` returns a phrase of Pawl's, in which text of others is quoted already. */
  readonly wordsItself?: true
  /** As a proposal shows it to a person: without ids, and `in_progress` as words. Otherwise like `show`. */
  propose?(value: Value, desk: Desk): string | null
  /** It names a row of this table. */
  readonly refers?: TableName
}

/** Says of a column that may be empty that it shall be; null says nothing at all, as everywhere. */
const NONE = "none"
const isNone = (text: string) => /^(?:none|nothing|never)$/i.test(text.trim())
const isFilled = (value: Value) => value !== null && value !== ""

const plain = (value: Value): unknown => value
const words = (value: Value): string | null => (value === null ? null : String(value).replaceAll("_", " "))

/** A name or a title: short, and never empty. */
export function name(most = 1000): Kind {
  return { ...text(most), schema: z.string().trim().min(1).max(most) }
}

/** Longer text. `orNone`: the empty text empties the column. */
export function text(most = 500_000, orNone?: "orNone"): Kind {
  return {
    schema: z.string().max(most),
    most,
    toColumn: (given) => (orNone && String(given).trim() === "" ? null : String(given)),
    toArgument: (value) => value ?? "",
    show: plain,
    loses: isFilled,
  }
}

export function choice(options: z.ZodEnum, loses: Kind["loses"] = () => false): Kind {
  return { schema: options, toColumn: String, toArgument: plain, show: plain, loses, propose: words }
}

/** A list of names, kept as a JSON array. */
export const people: Kind = {
  schema: boundedList(z.string().trim().min(1).max(200), 50),
  toColumn: (given) => ((given as string[]).length > 0 ? JSON.stringify(given) : null),
  toArgument: toList,
  show: toList,
  loses: (before, after) => toList(before).some((person) => !toList(after).includes(person)),
}

/** A device may have stored a value of an older list. */
function toList(value: Value): unknown[] {
  if (value === null || value === "") return []
  const list = tryReadJson(String(value))
  return Array.isArray(list) ? list : [String(value)]
}

/** Kept as 0 or 1. */
export const flag: Kind = {
  schema: z.boolean(),
  toColumn: (given) => (given ? 1 : 0),
  toArgument: (value) => value === 1,
  show: (value) => value === 1,
  loses: () => false,
}

/** Stored as a day, or in milliseconds if a time was given. `orNone`: "none" empties the column. */
export function date(orNone?: "orNone"): Kind {
  const none = (said: unknown) => orNone !== undefined && typeof said === "string" && isNone(said)
  // Checked here already, from wherever: what is not a date anywhere is refused before anything is proposed.
  const isDate = async (said: string | number, context: z.RefinementCtx) => {
    if (none(said)) return
    const problem = await readDate(said, { now: 0, timeZone: "UTC" }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
  }
  return {
    schema: z.union([z.string().max(LONGEST_DATE), z.number().int().min(EARLIEST).max(LATEST)]).superRefine(isDate),
    toColumn: (given, desk) => (none(given) ? null : readDate(given as string | number, desk)),
    toArgument: (value) => value ?? NONE,
    // Who is to agree to a time sees its zone too; a list says it by being the person's own.
    wordsItself: true,
    show: (value, { timeZone }) => (value === null ? null : dateAndZone(value, timeZone)),
    brief: (value, { timeZone }) => (value === null ? null : dateInWords(value, timeZone)),
    // A day from before days were kept as days is the midnight with which it began.
    isSame: (before, after, { timeZone }) =>
      before === after ||
      (typeof before === "number" && typeof after === "string" && before === startOf(after, timeZone)),
    loses: () => false,
  }
}

/** A row of another table, by its id or its name, kept as its id. `orNone`: "none" empties the column. */
export function reference(table: TableName, orNone?: "orNone"): Kind {
  return {
    // Not empty: models write "" for what they say nothing of, and that must not take anything away.
    schema: z.string().trim().min(1).max(1000),
    refers: table,
    async toColumn(given, desk) {
      const said = String(given)
      return orNone && isNone(said) ? null : String((await findRowByName(desk, table, said)).id)
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
