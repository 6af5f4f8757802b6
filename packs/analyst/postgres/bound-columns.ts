import type { PostgresPlan } from "./plan.ts"
import type { ValueSource } from "./sources.ts"
import type { CatalogueColumn, TableFacts } from "./table.ts"

/** How the columns of a changed row are handled: compared, or computed by the database when the change is applied. */
export interface BoundColumns {
  readonly bound: readonly string[]
  readonly made: readonly string[]
}

/**
 * The columns whose values have to be those that were shown are those that the statement decides. Where it leaves open who does,
 * a column is bound: the worst is that a change has to be proposed again. `stamped`: what triggers have changed besides.
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

/** The columns that an UPDATE leaves to the row, where triggers may change them all the same. */
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
  // A row of an INSERT may be a new one as well; what an overwritten one takes from that is as certain as it was there.
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
  // Triggers fill in what a statement leaves out.
  return source === "default" && facts.stamps ? "made" : fateOfSource(source, column)
}

const fateOfSource = (source: ValueSource, { given }: CatalogueColumn): Fate =>
  source === "moving" || (source === "default" && given) ? "made" : "bound"
