import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { inject } from "vitest"
import { giveBack, takeEmpty, takeMigrated, urlOf } from "./postgres-databases.ts"
import { isSampled } from "./sampling.ts"
import { isLong } from "./sizes.ts"
import { copySqlite } from "./template-databases.ts"

/** One engine the tests run on; `describe.each(databases)("on $name", ({ create }) => …)` covers them all. */
export interface TestDatabase {
  readonly name: "sqlite" | "postgres"
  /** Creates a database of its own with its tables. Hold it with `await using`, or leave it to the end of the file. */
  create(): Promise<TemporaryDatabase>
  /** A database without tables, as before the first start. */
  createEmpty(): Promise<TemporaryDatabase>
}

export interface TemporaryDatabase extends AsyncDisposable {
  /** `file:/tmp/…/pawl.db` or `postgres://…` */
  readonly url: string
}

const all: readonly TestDatabase[] = [
  {
    name: "sqlite",
    create: () => createSqlite("copied"),
    createEmpty: () => createSqlite("empty"),
  },
  {
    name: "postgres",
    create: async () => toPostgres(await takeMigrated()),
    createEmpty: async () => toPostgres(await takeEmpty()),
  },
]

/** Both engines, for guarantees of the store or of approvals, and for tests with statements of their own. */
export const databases: readonly TestDatabase[] = all.filter(({ name }) => inject("engines").includes(name))

/**
 * One engine, for tests above the store: the statements that they cause have their own tests on both engines. The
 * long run uses both.
 */
export const anyDatabase: readonly TestDatabase[] = isLong ? databases : databases.slice(0, 1)

/**
 * Both engines, for tests above the store that add statements of their own. A run of all tests uses PostgreSQL for a
 * quarter of these files, chosen by the seed. A run of named files and the long run use both.
 */
export const databasesInTurn = (file: string): readonly TestDatabase[] =>
  isLong || !isOfAll || isSampled(file, inject("seed")) ? databases : anyDatabase

/** Set by `scripts/test.ts` if it runs all files except those that are left out. */
const isOfAll = process.env.PAWL_TEST_LEFT_OUT !== undefined

async function createSqlite(how: "copied" | "empty"): Promise<TemporaryDatabase> {
  const place = inject("sqliteFolder")
  const folder = await mkdtemp(join(place, "one-"))
  const file = join(folder, "pawl.db")
  if (how === "copied") await copySqlite(place, file)
  return {
    url: `file:${file}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

const toPostgres = (name: string): TemporaryDatabase => ({
  url: urlOf(name),
  [Symbol.asyncDispose]: () => giveBack(name),
})
