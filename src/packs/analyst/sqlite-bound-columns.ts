import { isMoving, type SqliteSources, sourcesOf } from "./sqlite-sources.ts"
import type { SqliteWrites } from "./sqlite-writes.ts"

/** A column as SQLite's own table of them has it. */
export interface ColumnFacts {
  readonly name: string
  readonly type: string
  readonly pk: number
  readonly dflt_value: string | null
  /** 2 and 3: made of the row's other columns. */
  readonly hidden: number
}

/** What becomes of the columns of a changed row: compared, by their places, or made by the database in that moment. */
export interface BoundColumns {
  readonly bound: readonly number[]
  readonly made: readonly string[]
}

/**
 * The columns whose values have to be those that were shown are those that the statement decides. Where a text leaves open who
 * decides, a column is bound: the worst is that a change has to be proposed again.
 */
export function boundColumns(text: string, columns: readonly ColumnFacts[], writes: SqliteWrites): BoundColumns {
  const sources = sourcesOf(text)
  const fates = columns.map((column, index) => fateOf({ column, index, columns, sources, writes }))
  const made = columns.filter((_, index) => fates[index] === "made").map(({ name }) => name)
  // What is made of other columns is as certain as they are.
  const computed = made.length > 0 ? columns.filter(({ hidden }) => hidden > 1).map(({ name }) => name) : []
  return {
    bound: columns.flatMap((_, index) => (fates[index] === "bound" ? [index] : [])),
    made: [...made, ...computed],
  }
}

interface Asked {
  readonly column: ColumnFacts
  readonly index: number
  readonly columns: readonly ColumnFacts[]
  readonly sources: SqliteSources
  readonly writes: SqliteWrites
}

function fateOf(asked: Asked): "bound" | "made" | "left" {
  const { column, sources, writes } = asked
  if (writes.verb === "DELETE" || column.hidden > 1) return "left"
  if (writes.columns.has(column.name)) {
    const expression = sources.sets.get(column.name.toLowerCase()) ?? sources.all
    // What an overwritten row takes from the one that was to be added moves as that one may.
    const taken = /\bexcluded\b/i.test(expression) ? sources.all : expression
    return isMoving(taken) || isMoving(sources.around) ? "made" : "bound"
  }
  // What a row keeps is compared as it was.
  if (writes.verb === "UPDATE") return "left"
  return isMadeInNewRow(asked) ? "made" : "bound"
}

function isMadeInNewRow({ column, index, columns, sources }: Asked): boolean {
  const { name, type, pk, dflt_value: written } = column
  const { fills, places, around, all } = sources
  const numbered = pk > 0 && /^integer$/i.test(type) && columns.filter(({ pk: part }) => part > 0).length === 1
  // A constant is the same each time; what a function makes may be another.
  const given = numbered || (written !== null && (written.includes("(") || /\bcurrent_/i.test(written)))
  if (/\bdefault\s+values\b/i.test(all)) return given
  const place = fills ? fills.indexOf(name.toLowerCase()) : index
  if (place < 0) return given
  // A NULL, and nothing else, asks for a number where the column is named.
  if (!places) return (numbered && /\bnull\b/i.test(all)) || isMoving(all)
  if (isMoving(around)) return true
  return (places[place] ?? []).some((value) => (numbered && /^null$/i.test(value.trim())) || isMoving(value))
}
