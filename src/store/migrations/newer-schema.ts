import type { Engine } from "../engine/engine.ts"
import type { Migration } from "./migration.ts"

/** Steps that a database remembers, with the version of Pawl that each of them needs, if it needs one. */
export type DoneSteps = ReadonlyMap<string, string | null>

/** A newer version has changed the schema so that this one cannot work with it. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError"
}

/** Undefined where even the list of what was done is missing. */
export async function readDone(engine: Engine): Promise<DoneSteps | undefined> {
  try {
    // All columns: which there are depends on how old the list is.
    const rows = await engine.query<{ name: string; needs?: string | null }>("SELECT * FROM migration", [])
    return new Map(rows.map(({ name, needs = null }) => [name, needs]))
  } catch {
    return undefined
  }
}

/** What a newer version has done to the schema. The steps of packs have a slash in their names, and are theirs to judge. */
export const unknownSteps = (done: DoneSteps, known: readonly Migration[]): string[] =>
  [...done.keys()].filter((name) => !name.includes("/") && !known.some((step) => step.name === name)).sort()

/** Before anything is changed: a node that cannot serve the schema must not bring its own steps into it. */
export function refuseNewerSchema(done: DoneSteps, known: readonly Migration[]): void {
  const breaking = unknownSteps(done, known).filter((name) => done.get(name))
  const [first] = breaking
  if (first === undefined) return
  const version = breaking
    .map((name) => done.get(name) as string)
    .toSorted(byNumbers)
    .at(-1)
  throw new NewerSchemaError(
    `A newer Pawl has changed its schema (${breaking.join(", ")}) so that this version cannot serve it. Nothing was changed now. Start Pawl ${version} or newer, or go back to a copy from before the upgrade.`,
  )
}

const byNumbers = (one: string, other: string) => one.localeCompare(other, "en", { numeric: true })
