import type { PostgresPlan } from "./postgres-plan.ts"
import type { Source } from "./postgres-sources.ts"
import type { TableColumn, TableFacts } from "./postgres-table.ts"

/** What becomes of the columns of a changed row: compared, or made by the database in the moment of the change. */
export interface BoundColumns {
  readonly bound: readonly string[]
  readonly made: readonly string[]
}

/** The columns whose values have to be those that were shown are those that the statement decides. */
export function boundColumns(plan: PostgresPlan, { columns }: TableFacts): BoundColumns {
  const found = columns.map((column, index) => ({ name: column.name, fate: fateOf(plan, column, index) }))
  const made = found.filter(({ fate }) => fate === "made").map(({ name }) => name)
  // What is made of other columns is as certain as they are.
  const computed = made.length > 0 ? columns.filter((column) => column.computed).map(({ name }) => name) : []
  return {
    bound: found.filter(({ fate }) => fate === "bound").map(({ name }) => name),
    made: plan.verb === "DELETE" ? [] : [...made, ...computed],
  }
}

type Fate = "bound" | "made" | "left"

function fateOf(plan: PostgresPlan, column: TableColumn, index: number): Fate {
  const { verb, sets, givesNumbers } = plan
  if (verb === "DELETE" || column.computed) return "left"
  const set = sets.find(({ name }) => name === column.name)
  if (set) return fateOfSource(set.source, column)
  // What a row keeps is compared as it was.
  if (verb === "UPDATE") return "left"
  return givesNumbers && column.identity ? "made" : fateOfSource(sourceOf(plan, column, index), column)
}

function sourceOf({ fills, sources }: PostgresPlan, { name, given }: TableColumn, index: number): Source {
  const place = fills ? fills.indexOf(name) : index
  if (place < 0) return "default"
  // A `*`, and nobody said how many columns it fills. It fills the first ones, so that a number comes from it as well.
  if (!sources) return fills || index === 0 || !given ? "stated" : "default"
  return sources[place] ?? "default"
}

const fateOfSource = (source: Source, { given }: TableColumn): Fate =>
  source === "moving" || (source === "default" && given) ? "made" : "bound"
