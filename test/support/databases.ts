import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { atEndOfFile } from "./end-of-file.ts"
import { isLong } from "./sizes.ts"
import { Admin, copyPostgres, copySqlite, databaseUrl } from "./template-databases.ts"

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
  { name: "sqlite", create: () => createSqlite("copied"), createEmpty: () => createSqlite("empty") },
  { name: "postgres", create: () => createPostgres("copied"), createEmpty: () => createPostgres("empty") },
]

/** Both engines, for what the store or the gate promises, and for whatever brings statements of its own to a database. */
export const databases: readonly TestDatabase[] = all.filter(({ name }) => inject("engines").includes(name))

/** One engine, for what happens above the store: the statements that it brings about are tested on both elsewhere. The long run takes both. */
export const anyDatabase: readonly TestDatabase[] = isLong ? databases : databases.slice(0, 1)

const admin = new Admin(inject("postgresUrl"))
/** Databases of PostgreSQL that are still there: each takes megabytes, so none outlives its file. */
const made = new Set<string>()
atEndOfFile(async () => {
  for (const name of made) await drop(name)
  await admin[Symbol.asyncDispose]()
})

async function createSqlite(how: "copied" | "empty"): Promise<TemporaryDatabase> {
  const place = join(tmpdir(), inject("testRun"))
  const folder = await mkdtemp(join(place, "sqlite-"))
  const file = join(folder, "pawl.db")
  if (how === "copied") await copySqlite(place, file)
  return {
    url: `file:${file}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

async function createPostgres(how: "copied" | "empty"): Promise<TemporaryDatabase> {
  const name = `${inject("testRun")}_${randomBytes(6).toString("hex")}`
  made.add(name)
  await admin.run(
    how === "copied" ? copyPostgres(inject("testRun"), name) : `create database ${name} strategy file_copy`,
  )
  return { url: databaseUrl(inject("postgresUrl"), name), [Symbol.asyncDispose]: () => drop(name) }
}

/** Also while somebody is connected: a test may leave what it has opened to the end of its process. */
async function drop(name: string): Promise<void> {
  made.delete(name)
  await admin.run(`drop database if exists ${name} with (force)`)
}
