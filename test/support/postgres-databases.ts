import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { atEndOfFile } from "./end-of-file.ts"
import { Admin, copyPostgres, databaseUrl, schemaState } from "./template-databases.ts"

/**
 * The databases of PostgreSQL that this worker's tests use, one after another.
 *
 * A copy of the template takes a tenth of a second of the machine and the first connection to it as much again, which the
 * two thousand tests would pay each. So a database whose tables nobody has changed is emptied and given to the next test.
 */
const admin = new Admin(inject("postgresUrl"))
/** Databases that a test has and has not given back: no test outlives its file, so none of these does. */
const taken = new Set<string>()
/** Those of them that have been made with the tables. */
const migrated = new Set<string>()
/** Emptied, and under a name that nobody has been told. */
const free: string[] = []
atEndOfFile(async () => {
  for (const name of taken) await giveBack(name)
  await admin[Symbol.asyncDispose]()
})

export const urlOf = (name: string): string => databaseUrl(inject("postgresUrl"), name)

/** With the tables, and nothing in them. */
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

/** Also while somebody is connected: a test may leave what it has opened to the end of its process. */
export async function giveBack(name: string): Promise<void> {
  if (!taken.delete(name)) return
  const renamed = newName()
  const emptied = migrated.delete(name) && (await isEmptied(name, renamed))
  if (emptied) free.push(renamed)
  else for (const each of [name, renamed]) await admin.run(`drop database if exists ${each} with (force)`)
}

/** Whoever was left behind by the test that had it tries to connect to the old name, and finds nothing there. */
async function isEmptied(name: string, renamed: string): Promise<boolean> {
  await admin.run(`alter database ${name} allow_connections false`)
  await admin.run("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1", [name])
  await admin.run(`alter database ${name} rename to ${renamed}`)
  await admin.run(`alter database ${renamed} allow_connections true`)
  await using inside = new Admin(urlOf(renamed))
  // It fails where a test has taken the tables away.
  if ((await schemaState(inside).catch(() => "")) !== inject("migratedSchema")) return false
  await inside.run(emptyTables)
  return true
}

const emptyTables = `do $$
declare each record; filled boolean;
begin
  set local session_replication_role = replica;
  for each in select oid::regclass as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migration'
  loop
    execute format('select exists (select from %s)', each.name) into filled;
    if filled then execute format('delete from %s', each.name); end if;
  end loop;
  perform setval(oid::regclass, 1, false) from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace;
end $$`

function newName(): string {
  return `${inject("testRun")}_${randomBytes(6).toString("hex")}`
}

function take(name: string): string {
  taken.add(name)
  return name
}
