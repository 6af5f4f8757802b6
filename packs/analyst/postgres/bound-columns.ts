import type { PostgresPlan } from "./plan.ts"
import type { ValueSource } from "./sources.ts"
import type { CatalogueColumn, TableFacts } from "./table.ts"

/** How the columns of a changed row are handled: compared, or computed by the database when the change is applied. */
export interface BoundColumns {
  readonly bound: readonly string[]
  readonly made: readonly string[]
}

/**
 * The columns whose values must be equal to the shown ones: those that the statement determines. In doubt a column is
 * bound: at worst a change must be proposed again. `stamped`: columns that triggers have changed as well.
 */
export function boundColumns(plan: PostgresPlan, facts: TableFacts, stamped: readonly string[] = []): BoundColumns {
  const { columns } = facts
  const found = columns.map((column) => ({ name: column.name, fate: fateOf(plan, facts, column) }))
  const made = found.filter(({ name, fate }) => fate === "made" || (fate === "left" && stamped.includes(name)))
  // Computed columns are as certain as the columns that they depend on.
  const computed = made.length > 0 ? columns.filter((column) => column.computed).map(({ name }) => name) : []
  return {
    bound: found.filter(({ fate }) => fate === "bound").map(({ name }) => name),
    made: plan.verb === "DELETE" ? [] : [...made.map(({ name }) => name), ...computed],
  }
}

/** The columns that an UPDATE does not set, and that triggers may change. */
export const stampable = (plan: PostgresPlan, facts: TableFacts): readonly string[] =>
  plan.verb === "UPDATE" && facts.stamps
    ? facts.columns
        .filter((column) => !column.computed && fateOf(plan, facts, column) === "left")
        .map(({ name }) => name)
    : []

type Fate = "bound" | "made" | "left"

function fateOf(plan: PostgresPlan, facts: TableFacts, column: CatalogueColumn): Fate {
  const { verb, sets } = plan
  if (verb === "DELETE" || column.computed) return "left"
  const set = sets.find(({ name }) => name === column.name)
  // Unchanged columns are compared with their previous values.
  if (verb === "UPDATE") return set ? fateOfSource(set.source, column) : "left"
  // A row of an INSERT may be new. What an overwritten row takes from it is as certain as the new row's values.
  const named = facts.columns.filter(({ name }) => name === column.name || set?.taken.includes(name))
  const fates = named.map((each) => fateInNewRow(plan, facts, each))
  if (set) fates.push(fateOfSource(set.source, column))
  return fates.includes("made") ? "made" : "bound"
}

function fateInNewRow(
  { fills, sources, open, givesNumbers }: PostgresPlan,
  facts: TableFacts,
  column: CatalogueColumn,
): Fate {
  if (givesNumbers && column.identity) return "made"
  const place = fills ? fills.indexOf(column.name) : facts.columns.indexOf(column)
  const source = place < 0 ? "default" : (sources[place] ?? (open ? "stated" : "default"))
  // Triggers may fill in columns that a statement leaves out.
  return source === "default" && facts.stamps ? "made" : fateOfSource(source, column)
}

const fateOfSource = (source: ValueSource, { given }: CatalogueColumn): Fate =>
  source === "moving" || (source === "default" && given) ? "made" : "bound"
