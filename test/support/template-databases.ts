import { copyFile } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import { openStore } from "../../core/store/store.ts"

/** The templates for copies: a database on each engine with its tables and no rows. */
export interface Templates {
  /** The folder for the databases of SQLite. */
  readonly folder: string
  /** A superuser's url on the PostgreSQL, empty where it is not tested. */
  readonly postgresUrl: string
  readonly testRun: string
}

const sqliteOf = ({ folder }: Pick<Templates, "folder">) => join(folder, "template.db")
const postgresOf = ({ testRun }: Pick<Templates, "testRun">) => `${testRun}_template`

/** Creates the tables once for all tests: a hundred statements, and the tests use more than a thousand databases. */
export async function makeTemplates({ folder, postgresUrl, testRun }: Templates): Promise<void> {
  const migrated = async (url: string) => (await openStore({ url }))[Symbol.asyncDispose]()
  await migrated(`file:${sqliteOf({ folder })}`)
  if (!postgresUrl) return
  const name = postgresOf({ testRun })
  await using admin = new Admin(postgresUrl)
  await admin.run(`create database ${name}`)
  await migrated(databaseUrl(postgresUrl, name))
}

export const copySqlite = (folder: string, to: string): Promise<void> => copyFile(sqliteOf({ folder }), to)

/** The files are copied, not each page written to the log: a fifth of the work of making the tables. */
export const copyPostgres = (testRun: string, name: string): string =>
  `create database ${name} template ${postgresOf({ testRun })} strategy file_copy`

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** One connection for commands about whole databases, opened when first needed and reopened when it is lost. */
export class Admin implements AsyncDisposable {
  readonly #url: string
  #client: Promise<pg.Client> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.#url = url
  }

  /** Runs them one after another, also for concurrent tests. */
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
