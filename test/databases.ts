import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { inject } from "vitest"

/** One engine the tests run on; `describe.each(databases)("on $name", ({ create }) => …)` covers them all. */
export interface TestDatabase {
  readonly name: "sqlite" | "postgres"
  /** A fresh, empty place nobody else uses; hold it with `await using`, or leave it to the end of the test run. */
  create(): Promise<TemporaryDatabase>
}

export interface TemporaryDatabase extends AsyncDisposable {
  /** `file:/tmp/…/pawl.db` or `postgres://…` */
  readonly url: string
}

const all: readonly TestDatabase[] = [
  { name: "sqlite", create: createSqlite },
  { name: "postgres", create: createPostgres },
]

export const databases: readonly TestDatabase[] = all.filter(({ name }) => inject("engines").includes(name))

async function createSqlite(): Promise<TemporaryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), inject("testRun"), "sqlite-"))
  return {
    url: `file:${join(folder, "pawl.db")}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

async function createPostgres(): Promise<TemporaryDatabase> {
  const name = `${inject("testRun")}_${randomBytes(6).toString("hex")}`
  // A schema, not a database: a database takes a tenth of a second to make, and the tests make hundreds.
  await asAdmin(`create schema ${name}`)
  const url = new URL(inject("postgresUrl"))
  url.searchParams.set("options", `-csearch_path=${name}`)
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => asAdmin(`drop schema if exists ${name} cascade`),
  }
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client(inject("postgresUrl"))
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
