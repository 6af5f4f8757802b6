import type { Engine } from "../engine/engine.ts"
import { FIRST_MIGRATION, type Migration } from "./migrations.ts"

/** The migrations that a database has recorded, with the version of Pawl that each needs, if it needs one. */
export type RecordedMigrations = ReadonlyMap<string, string | null>

/** The schema of a database is one that this version cannot work with. */
export class SchemaVersionError extends Error {
  override readonly name = "SchemaVersionError"
}

/** Undefined if the database has no list of migrations. */
export async function readMigrations(engine: Engine): Promise<RecordedMigrations | undefined> {
  try {
    const rows = await engine.query<{ name: string; needs?: string | null }>("SELECT * FROM migration", [])
    return new Map(rows.map(({ name, needs = null }) => [name, needs]))
  } catch {
    return undefined
  }
}

/** The migrations of a newer version. Those of packs have a slash in their names, and packs judge them. */
export const unknownMigrations = (recorded: RecordedMigrations, known: readonly Migration[]): string[] =>
  [...recorded.keys()].filter((name) => !name.includes("/") && !known.some((step) => step.name === name)).sort()

/** The last migration of the checkouts before 0.1.0. It created the tables that 0.1.0 starts with. */
const LAST_OF_CHECKOUTS = "072_models_per_client"

/** Whether the last checkout before 0.1.0 made the database: its tables are those of 0.1.0, so they can be exported. */
export async function isLastCheckout(engine: Engine): Promise<boolean> {
  const recorded = await readMigrations(engine)
  return recorded !== undefined && !recorded.has(FIRST_MIGRATION) && recorded.has(LAST_OF_CHECKOUTS)
}

/** Throws before anything is changed if this version cannot serve the schema. */
export function refuseOtherSchema(recorded: RecordedMigrations, known: readonly Migration[]): void {
  if (!recorded.has(FIRST_MIGRATION)) throw new SchemaVersionError(ofCheckoutText(recorded))
  const breaking = unknownMigrations(recorded, known).filter((name) => recorded.get(name))
  if (breaking.length === 0) return
  const version = breaking
    .map((name) => recorded.get(name) as string)
    .toSorted(byNumbers)
    .at(-1)
  throw new SchemaVersionError(
    `A newer Pawl has changed its schema (${breaking.join(", ")}) so that this version cannot serve it. Nothing was changed now. Start Pawl ${version} or newer, or go back to a copy from before the upgrade.`,
  )
}

function ofCheckoutText(recorded: RecordedMigrations): string {
  const first = recorded.has(LAST_OF_CHECKOUTS)
    ? "Write"
    : `Run "pawl migrate" with the last checkout before 0.1.0, then write`
  return `A Pawl checkout from before 0.1.0 made this database, and this version cannot serve it. Nothing was changed. ${first} it to a file with "pawl export pawl.jsonl", and read the file into a new database with "pawl import pawl.jsonl": docs/recipes/upgrade.md.`
}

/**
 * The engine of a database that has migrations of a newer version. They declared that this version can work with the
 * result. If a table or a column is missing nevertheless, the error gives the cause and not only what is missing.
 */
export function inNewerSchema(engine: Engine, newer: readonly string[]): Engine {
  if (newer.length === 0) return engine
  const explain = (error: unknown): never => {
    const missing = missingIn(error)
    if (missing === undefined) throw error
    const problem = `A newer Pawl has changed this database (${newer.join(", ")}), and this version cannot work with it: ${missing}.`
    const remedy = "Start the version that used the database last, or go back to a copy from before the upgrade."
    throw new SchemaVersionError(`${problem} ${remedy}`, { cause: error })
  }
  return new Proxy(engine, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...values: unknown[]) => unknown
      return (...values: unknown[]) => {
        const result = method(...values)
        return result instanceof Promise ? result.catch(explain) : result
      }
    },
  })
}

/** Missing columns, tables and functions of PostgreSQL, and a column that a newer version requires a value for. */
const POSTGRES_MISSING = /^(42703|42P01|42883|23502)$/
const SQLITE_MISSING = /no such (column|table|function)|has no column named|NOT NULL constraint failed/

/** The database's own message if a statement does not fit its schema; the store wraps it in an error of its own. */
function missingIn(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, errcode } = at as { code?: unknown; errcode?: unknown }
    const isMissing = errcode === undefined ? POSTGRES_MISSING.test(String(code)) : SQLITE_MISSING.test(at.message)
    if (isMissing) return at.message
  }
  return undefined
}

const byNumbers = (one: string, other: string) => one.localeCompare(other, "en", { numeric: true })
