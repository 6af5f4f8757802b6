import { namesMovingValue } from "./moving-value.ts"
import type { SqliteWrites } from "./sqlite-writes.ts"

/** A column as SQLite's own table of them has it. */
export interface ColumnFacts {
  readonly name: string
  readonly type: string
  readonly pk: number
  readonly dflt_value: string | null
}

/**
 * The places of the columns whose values have to be those that were shown: what the statement decides, not a number that is
 * given to a row, nor a time for want of a value. Where a text leaves open who decides, it is bound: the worst is that a
 * change has to be proposed again.
 */
export function boundColumns(text: string, columns: readonly ColumnFacts[], writes: SqliteWrites): number[] {
  const moving = namesMovingValue(text)
  const isBound = (column: ColumnFacts): boolean => {
    const set = writes.columns.has(column.name)
    if (writes.verb === "INSERT") return !moving && (set || !isGiven(text, column, columns))
    if (writes.verb !== "UPDATE") return false
    // A row that gets another number is not seen as it was, so that what it keeps has to be the same; triggers may stamp rows.
    if (writes.renumbers(columns) && writes.triggers.size === 0) return !set || !moving
    return set && !moving
  }
  return columns.flatMap((column, index) => (isBound(column) ? [index] : []))
}

/** Whether a value of a new row comes from the database. */
function isGiven(
  text: string,
  { name, type, pk, dflt_value: written }: ColumnFacts,
  all: readonly ColumnFacts[],
): boolean {
  const numbered = pk > 0 && /^integer$/i.test(type) && all.filter((column) => column.pk > 0).length === 1
  // A constant is the same each time; what a function makes may be another.
  const made = written !== null && (written.includes("(") || namesMovingValue(written))
  if (!numbered && !made) return false
  // A NULL, and nothing else, asks for a number where the column is named.
  if (numbered && /\bnull\b/i.test(text)) return true
  if (/\bdefault\s+values\b/i.test(text)) return true
  const listed = LIST.exec(text)?.[1]
  return listed !== undefined && ![...listed.matchAll(EACH)].some(([one]) => isNamed(one, name))
}

const NAME = String.raw`(?:"(?:[^"]|"")*"|\[[^\]]*\]|\`[^\`]*\`|[\w$\u0080-\uffff]+)`
const EACH = new RegExp(NAME, "g")
/** The columns that an INSERT names. */
const LIST = new RegExp(
  String.raw`\binto\s+(?:${NAME}\s*\.\s*)?${NAME}(?:\s+as\s+${NAME})?\s*\(\s*(${NAME}(?:\s*,\s*${NAME})*)\s*\)`,
  "i",
)

const isNamed = (written: string, name: string) =>
  written.replaceAll('""', '"').toLowerCase() === name.toLowerCase() ||
  written.slice(1, -1).replaceAll('""', '"').toLowerCase() === name.toLowerCase()
