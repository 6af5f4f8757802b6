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
  /** A place nobody else uses, with its tables; hold it with `await using`, or leave it to the end of the file. */
  create(): Promise<TemporaryDatabase>
  /** The same before the first start ever: without a table. */
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

/** Both engines, for what the store or the gate promises, and for whatever brings statements of its own to a database. */
export const databases: readonly TestDatabase[] = all.filter(({ name }) => inject("engines").includes(name))

/** One engine, for what happens above the store: the statements that it brings about are tested on both elsewhere. The long run takes both. */
export const anyDatabase: readonly TestDatabase[] = isLong ? databases : databases.slice(0, 1)

/**
 * Both engines for what happens above the store, and brings statements of its own: of these files a quarter has PostgreSQL too
 * in one run of all of them, by the seed. Whoever names a file has both, as has the long run.
 */
export const databasesInTurn = (file: string): readonly TestDatabase[] =>
  isLong || !isOfAll || isSampled(file, inject("seed")) ? databases : anyDatabase

/** Set by `scripts/test.ts`, where it runs all files but those that are left out. */
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
