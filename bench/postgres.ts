import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import pg from "pg"

/** A PostgreSQL server for this run, which provides empty databases. */
export interface Postgres {
  readonly version: string
  createDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }>
  stop(): Promise<void>
}

/** The throwaway server of the tests, but on this disk and with fsync, which is part of the measurement. */
export async function startPostgres(disk: string): Promise<Postgres> {
  const script = join(import.meta.dirname, "..", "test", "support", "throwaway-postgres.ts")
  // It exits when its stdin closes, so it ends with this process in any case.
  const server = spawn(process.execPath, [script, `in=${disk}`], { stdio: ["pipe", "pipe", "pipe"], detached: true })
  let problem = ""
  server.stderr.on("data", (text) => (problem += String(text)))
  const ended = once(server, "close").then(() => undefined)
  const printed = await Promise.race([once(server.stdout, "data"), ended])
  if (!printed) throw new Error(/^.*(?:Error|did not start).*$/m.exec(problem)?.[0] || "the server ended at once")
  const url = String(printed[0]).trim()
  const admin = new pg.Client(url)
  await admin.connect()
  for (const setting of ["fsync", "full_page_writes"]) await admin.query(`ALTER SYSTEM SET ${setting} = on`)
  await admin.query("SELECT pg_reload_conf()")
  const { rows } = await admin.query<{ server_version: string }>("SHOW server_version")
  let count = 0
  return {
    version: rows[0]?.server_version ?? "",
    async createDatabase() {
      const name = `bench_${++count}`
      await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`)
      const database = new URL(url)
      database.pathname = `/${name}`
      return {
        url: database.href,
        async drop() {
          await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
          await admin.query("CHECKPOINT") // so that a contender does not pay for the previous one's writes
        },
      }
    },
    async stop() {
      await admin.end()
      server.stdin.end()
      await ended
    },
  }
}
