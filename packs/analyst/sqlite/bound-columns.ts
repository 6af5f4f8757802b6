import { isGenerated, isMoving, unquotedName, type SqliteSources, valueSources } from "./sources.ts"
import type { SqliteWrites } from "./writes.ts"

/** A column in SQLite's `table_xinfo`. */
export interface ColumnFacts {
  readonly name: string
  readonly type: string
  readonly pk: number
  readonly dflt_value: string | null
  /** 2 and 3: computed from other columns of the row. */
  readonly hidden: number
}

/** A table, and the text of the triggers that the statement fires. */
export interface TableFacts {
  readonly columns: readonly ColumnFacts[]
  readonly triggers: readonly string[]
}

/**
 * How the columns of a changed row are handled: compared, by their indexes, or computed by the database when the change
 * is applied.
 */
export interface BoundColumns {
  readonly bound: readonly number[]
  readonly made: readonly string[]
  /** Values may come from a part of the statement that differs at each run. They are compared anyway. */
  readonly restless: boolean
}

/**
 * The columns whose values must be equal to the shown ones: those that the statement determines. In doubt a column is
 * bound: at worst a change must be proposed again.
 */
export function boundColumns(text: string, { columns, triggers }: TableFacts, writes: SqliteWrites): BoundColumns {
  const sources = valueSources(text)
  const stamps = triggers.some(isMoving)
  const fates = columns.map((column) => fateOf({ column, columns, sources, writes, stamps }))
  const made = columns.filter((_, index) => fates[index] === "made").map(({ name }) => name)
  // Computed columns are as certain as the columns that they depend on.
  const computed = made.length > 0 ? columns.filter(({ hidden }) => hidden > 1).map(({ name }) => name) : []
  return {
    bound: columns.flatMap((_, index) => (fates[index] === "bound" ? [index] : [])),
    made: [...made, ...computed],
    restless: writes.verb !== "DELETE" && isMoving(sources.around),
  }
}

interface Asked {
  readonly column: ColumnFacts
  readonly columns: readonly ColumnFacts[]
  readonly sources: SqliteSources
  readonly writes: SqliteWrites
  /** Triggers may set a different value each time. */
  readonly stamps: boolean
}

function fateOf(asked: Asked): "bound" | "made" | "left" {
  const { column, sources, writes, stamps } = asked
  if (writes.verb === "DELETE" || column.hidden > 1) return "left"
  if (writes.stamped.has(column.name)) return stamps ? "made" : "bound"
  if (writes.columns.has(column.name)) {
    const expression = sources.sets.get(column.name.toLowerCase()) ?? ""
    const taken = takenFrom(expression)
    // A row of an INSERT may be new. What an overwritten row takes from it is as certain as the new row's values.
    const others = writes.verb === "INSERT" ? [column.name.toLowerCase(), ...taken] : []
    return isGenerated(expression) || others.some((name) => isMadeInNewRow(asked, name)) ? "made" : "bound"
  }
  // Unchanged columns are compared with their previous values.
  if (writes.verb === "UPDATE") return "left"
  return isMadeInNewRow(asked, column.name.toLowerCase()) ? "made" : "bound"
}

/** The columns of `excluded` that an expression of ON CONFLICT uses. */
const takenFrom = (expression: string) => [...expression.matchAll(EXCLUDED)].map(([, name = ""]) => unquotedName(name))
const EXCLUDED = /\bexcluded\s*\.\s*("(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|[\w$\u0080-\uffff]+)/gi

function isMadeInNewRow({ columns, sources }: Asked, name: string): boolean {
  const index = columns.findIndex((column) => column.name.toLowerCase() === name)
  const column = columns[index]
  if (!column) return false
  const { type, pk, dflt_value: written } = column
  const { fills, places, defaults } = sources
  const numbered = pk > 0 && /^integer$/i.test(type) && columns.filter(({ pk: part }) => part > 0).length === 1
  const given = numbered || isMoving(written ?? "")
  const place = defaults ? -1 : fills ? fills.indexOf(name) : index
  if (place < 0) return given
  // A NULL for a numbered column generates a number.
  return (places[place] ?? []).some((value) => (numbered && /^null$/i.test(value.trim())) || isGenerated(value))
}
