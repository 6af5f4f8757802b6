import { copyFile } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import { openStore } from "../../src/store/store.ts"

/** What copies are made of: a place on each engine whose tables have been made, and nothing else. */
export interface Templates {
  /** Where the folders of this test run are. */
  readonly folder: string
  /** A superuser's url on the PostgreSQL, empty where it is not tested. */
  readonly postgresUrl: string
  readonly testRun: string
}

const sqliteOf = ({ folder }: Pick<Templates, "folder">) => join(folder, "template.db")
const postgresOf = ({ testRun }: Pick<Templates, "testRun">) => `${testRun}_template`

/**
 * Makes the tables once for all tests: a hundred statements, and the tests have more than a thousand places.
 * Returns by what a database of PostgreSQL is known whose tables are as they were made.
 */
export async function makeTemplates({ folder, postgresUrl, testRun }: Templates): Promise<string> {
  const migrated = async (url: string) => (await openStore({ url }))[Symbol.asyncDispose]()
  await migrated(`file:${sqliteOf({ folder })}`)
  if (!postgresUrl) return ""
  const name = postgresOf({ testRun })
  await using admin = new Admin(postgresUrl)
  await admin.run(`create database ${name}`)
  await migrated(databaseUrl(postgresUrl, name))
  await using inside = new Admin(databaseUrl(postgresUrl, name))
  return await schemaState(inside)
}

/** Whatever changes a table, a function, a trigger, a setting of the database or which migrations were run changes this. */
export async function schemaState(inside: Admin): Promise<string> {
  const [row] = await inside.run<{
    state: string
  }>(`select concat_ws(' ', ${Object.entries(catalogues).map(newest).join()},
    (select md5(string_agg(migration::text, ',' order by migration)) from migration),
    (select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
      where d.datname = current_database())) as state`)
  return row!.state
}

/** Where each catalogue keeps the number of what a row is about. */
const catalogues = {
  class: "oid",
  attribute: "attrelid",
  index: "indrelid",
  constraint: "oid",
  attrdef: "oid",
  trigger: "oid",
  proc: "oid",
  namespace: "oid",
}

/** How many rows are not PostgreSQL's own, and which transaction wrote the newest. */
const newest = ([name, number]: [string, string]) =>
  `(select concat(count(*), '/', max(xmin::text::bigint)) from pg_${name} where ${number} >= 16384)`

export const copySqlite = (folder: string, to: string): Promise<void> => copyFile(sqliteOf({ folder }), to)

/** The files are copied, not each page written to the log: a fifth of the work of making the tables. */
export const copyPostgres = (testRun: string, name: string): string =>
  `create database ${name} template ${postgresOf({ testRun })} strategy file_copy`

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** One connection for what is done to databases as a whole, opened when first needed and again when it is gone. */
export class Admin implements AsyncDisposable {
  readonly #url: string
  #client: Promise<pg.Client> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.#url = url
  }

  /** One after another, also where tests that run at the same time ask for it. */
  run<Row extends pg.QueryResultRow>(statement: string, values: unknown[] = []): Promise<Row[]> {
    const rows = this.#last.then(async () => {
      const client = await (this.#client ??= this.#connect())
      return (await client.query<Row>(statement, values)).rows
    })
    this.#last = rows.catch(() => {})
    return rows
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#url)
    const gone = () => (this.#client = undefined)
    client.on("error", gone).on("end", gone)
    await client.connect()
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#client)?.end()
  }
}
