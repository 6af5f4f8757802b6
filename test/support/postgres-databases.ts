import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { atEndOfFile } from "./end-of-file.ts"
import { Admin, copyPostgres, databaseUrl } from "./template-databases.ts"

/**
 * The databases of PostgreSQL that this worker's tests use, one after another.
 *
 * Copying the template takes a tenth of a second and the first connection to the copy takes as long again, for each
 * of two thousand tests. So a database whose tables are unchanged is emptied and reused by the next test.
 */
const admin = new Admin(inject("postgresUrl"))
/** Databases that a test has taken and not returned. No test outlives its file, so these are free at its end. */
const taken = new Set<string>()
/** Those of them that were created with the tables. */
const migrated = new Set<string>()
/** Empty databases under a new name that no test knows. */
const free: string[] = []
atEndOfFile(async () => {
  for (const name of taken) await giveBack(name)
  await admin[Symbol.asyncDispose]()
})

export const urlOf = (name: string): string => databaseUrl(inject("postgresUrl"), name)

/** With empty tables. */
export async function takeMigrated(): Promise<string> {
  const emptied = free.pop()
  const name = take(emptied ?? newName())
  if (!emptied) await admin.run(copyPostgres(inject("testRun"), name))
  migrated.add(name)
  return name
}

/** Without a table. */
export async function takeEmpty(): Promise<string> {
  const name = take(newName())
  await admin.run(`create database ${name} strategy file_copy`)
  return name
}

/** Works while connections are open: a test may leave its connections to the end of its process. */
export async function giveBack(name: string): Promise<void> {
  if (!taken.delete(name)) return
  const renamed = newName()
  const emptied = migrated.delete(name) && (await isEmptied(name, renamed))
  if (emptied) free.push(renamed)
  else for (const each of [name, renamed]) await admin.run(`drop database if exists ${each} with (force)`)
}

/** A connection that a test left behind tries to reconnect under the old name and fails. */
async function isEmptied(name: string, renamed: string): Promise<boolean> {
  await admin.run(`alter database ${name} allow_connections false`)
  await admin.run("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1", [name])
  await admin.run(`alter database ${name} rename to ${renamed}`)
  await admin.run(`alter database ${renamed} allow_connections true`)
  await using inside = new Admin(urlOf(renamed))
  const written = await inside.run<{ name: string; isSchema: boolean }>(writtenTo)
  if (written.some(({ isSchema }) => isSchema)) return false
  await inside.run(`set session_replication_role = replica; ${written.map(({ name }) => `delete from ${name};`).join(" ")}
    select setval(oid::regclass, 1, false) from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace;
    select pg_stat_reset()`)
  return true
}

/**
 * The tables to which PostgreSQL has counted a write since its statistics were reset; sessions report their counts
 * when they end. Querying sixty tables takes three times as long. A test that changes a table, function, trigger or
 * setting writes to a catalogue, also if it changes it back. If the server does not
 * count, or counts late, the database is not reused.
 */
const writtenTo = `
  select oid::regclass::text as name, false as "isSchema" from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migration'
      and pg_stat_get_tuples_inserted(oid) > 0
  union all select relname, true from pg_class
    where relkind = 'r' and (relnamespace = 'pg_catalog'::regnamespace and not relisshared or relname = 'migration')
      and relname <> 'pg_statistic'
      and pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid) > 0
  union all select 'settings of the database', true from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
    where d.datname = current_database()
  union all select 'nothing is counted', true
    where current_setting('track_counts') = 'off' or current_setting('server_version_num')::int < 150000`

function newName(): string {
  return `${inject("testRun")}_${randomBytes(6).toString("hex")}`
}

function take(name: string): string {
  taken.add(name)
  return name
}
