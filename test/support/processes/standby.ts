import { execFileSync } from "node:child_process"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import pg from "pg"

/** A file of this name in the folder of a standby, and SIGUSR1: `pg_ctl promote` does the same. */
export const PROMOTE = "promote"

/** Copies the data of a running server, as `pg_basebackup` would, which is not among the binaries of the tests. */
export async function copyAsStandby(url: string, from: string, to: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("SELECT pg_backup_start('standby', fast => true)")
    // The copy replays the server's log, which has the files that the server deletes during the copy.
    execFileSync("sh", ["-c", 'cp -R "$0" "$1" 2>/dev/null || test -f "$1/PG_VERSION"', from, to])
    const { rows } = await client.query<{ labelfile: string }>(
      "SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)",
    )
    writeFileSync(join(to, "backup_label"), rows[0]?.labelfile ?? "")
  })
  for (const file of ["postmaster.pid", "postmaster.opts"]) rmSync(join(to, file), { force: true })
  for (const slot of readdirSync(join(to, "pg_replslot"))) rmSync(join(to, "pg_replslot", slot), { recursive: true })
  const { hostname, port, username, password } = new URL(url)
  const primary = `host=${hostname} port=${port} user=${username} password=${password}`
  writeFileSync(join(to, "postgresql.auto.conf"), `primary_conninfo = '${primary}'\n`)
  writeFileSync(join(to, "standby.signal"), "")
}

/** From now on no commit is acknowledged before the standby has it on disk, and it has all previous ones. */
export async function followsSynchronously(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const holds = async (condition: string, values: unknown[] = []) => {
      while ((await client.query(`SELECT 1 FROM pg_stat_replication WHERE ${condition}`, values)).rowCount === 0)
        await pause(20)
    }
    await holds("state = 'streaming'")
    await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await client.query("SELECT pg_reload_conf()")
    await holds("sync_state = 'sync'")
    const { rows } = await client.query<{ at: string }>("SELECT pg_logical_emit_message(true, 'standby', '') AS at")
    await holds("flush_lsn >= $1::pg_lsn", [rows[0]?.at])
  })
}

export async function isPromoted(url: string): Promise<void> {
  await withClient(url, async (client) => {
    while ((await client.query("SELECT 1 WHERE NOT pg_is_in_recovery()")).rowCount === 0) await pause(20)
  })
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url)
  client.on("error", () => {}) // the next query throws
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
