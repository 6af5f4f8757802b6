import { randomBytes } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { inject } from "vitest"

/** A user's database, and a client that reads it directly. */
export interface ChangeTarget {
  readonly connection: object
  rows(sql: string): Promise<unknown[][]>
  close(): Promise<void>
}

const SHOP = [
  "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT)",
  "CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id) ON DELETE CASCADE, cents INTEGER)",
  "INSERT INTO customer VALUES (1, 'Ada', 'London'), (2, 'Bo', NULL), (3, 'Cy', 'Bonn')",
  "INSERT INTO purchase VALUES (1, 1, 1250), (2, 1, 99)",
]

export const changeTargets = {
  async sqlite(root: string, user: string): Promise<ChangeTarget> {
    const name = `${randomBytes(4).toString("hex")}.db`
    mkdirSync(join(root, user), { recursive: true })
    const file = join(root, user, name)
    const rows = async (sql: string) => {
      const db = new DatabaseSync(file, { timeout: 2000 })
      try {
        const statement = db.prepare(sql)
        statement.setReturnArrays(true)
        return statement.all() as unknown as unknown[][]
      } finally {
        db.close()
      }
    }
    for (const sql of SHOP) await rows(sql)
    return { connection: { kind: "sqlite", path: name }, rows, close: async () => {} }
  },
  async postgres(): Promise<ChangeTarget> {
    const { hostname: host, port, pathname, href } = new URL(inject("postgresUrl"))
    const name = `shop_${randomBytes(5).toString("hex")}`
    const admin = new pg.Client(href)
    await admin.connect()
    await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`)
    await admin.query(`CREATE SCHEMA ${name} AUTHORIZATION ${name}`)
    await admin.query(`SET search_path = ${name}`)
    await admin.query(`SET ROLE ${name}`)
    for (const sql of SHOP) await admin.query(sql)
    const connection = { kind: "postgres", host, port: Number(port), database: pathname.slice(1) }
    return {
      connection: { ...connection, user: name, password: "secret" },
      rows: async (sql) => (await admin.query({ text: sql, rowMode: "array" })).rows,
      async close() {
        await admin.query("RESET ROLE")
        await admin.query(`DROP SCHEMA ${name} CASCADE`)
        await admin.query(`DROP OWNED BY ${name}`)
        await admin.query(`DROP ROLE ${name}`)
        await admin.end()
      },
    }
  },
}

/** The database kinds that can be tested on this machine. */
export const kinds = inject("engines").includes("postgres") ? (["sqlite", "postgres"] as const) : (["sqlite"] as const)
