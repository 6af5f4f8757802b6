import { makeFolders } from "../../shared/processes/make-folders.ts"
import { statfs } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { DatabaseSync } from "node:sqlite"
import type { Log } from "../../shared/log.ts"
import { failure } from "../../protocol/errors.ts"
import type { Engine } from "./engine.ts"
import { EVENTS, EVENTS_TO_REPLAY, type EventRow } from "./event-rows.ts"
import { type SchemaSyntax, toIndexStatement } from "./schema-syntax.ts"
import type { Operation } from "./operations.ts"
import { openConnection, scrub } from "./sqlite/connection.ts"
import { sqliteByteCounts } from "./sqlite/byte-counts.ts"
import { sqliteFullText } from "./sqlite/full-text.ts"
import { StatementCache } from "./sqlite/statement-cache.ts"
import { SqliteWriter } from "./sqlite/writer.ts"
import { DISK_FULL, toReadFailure } from "./store-failure.ts"

const syntax: SchemaSyntax = {
  serialKey: "INTEGER PRIMARY KEY",
  clustered: "WITHOUT ROWID",
  unlogged: "",
  bytes: "BLOB",
  uncompressed: () => [],
  partition: { by: () => "", first: () => [] },
  fullText: sqliteFullText.statements,
  byteCounts: sqliteByteCounts,
}

export interface SqliteOptions {
  readonly file: string
  readonly durability: "full" | "normal"
  readonly log?: Log | undefined
}

/** The embedded engine: one connection, with one writer. */
export function openSqlite({ file, durability, log }: SqliteOptions): Engine {
  if (file !== ":memory:") makeFolders(dirname(file))
  const db = openConnection(file)
  const writer = new SqliteWriter(db, { file, durability, log })
  const lock = file === ":memory:" ? undefined : lockFile(`${file}-owner`)
  const statements = new StatementCache(db)
  const prepareRows = (sql: string) => {
    const statement = statements.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  let closing: Promise<void> | undefined

  return {
    name: "sqlite",
    syntax,
    fullText: sqliteFullText,
    byteCounts: sqliteByteCounts,
    exclusive: lock !== undefined || file === ":memory:",
    manyMachines: false,
    ...(file === ":memory:" ? {} : { cacheFolder: (what: string) => `${file}-${what}` }),
    reusesKeys: true,
    broken: writer.broken,
    change: ((operation: Operation) => writer.change(operation)) as Engine["change"],
    async buildIndex(index) {
      const statements = [{ sql: toIndexStatement(index), values: [] }]
      await writer.change({ type: "statements", statements })
    },
    addPartition: async () => {}, // SQLite has no partitions
    async room() {
      if (file !== ":memory:") await demandSpace(dirname(file))
      await writer.change(NEW_PAGES)
    },
    scrub: async (what) => (file === ":memory:" ? undefined : scrub(file, what, log)),
    weaknesses: async () => [],
    query: async <Row>(sql: string, values: readonly unknown[]) =>
      reading(() => statements.prepare(sql).all(...(values as string[])) as Row[]),
    events: async (key, { after, upTo, limit }) =>
      reading(() => prepareRows(EVENTS).all(key, after, upTo, limit) as unknown as EventRow[]),
    eventsToReplay: async (key) =>
      reading(() => prepareRows(EVENTS_TO_REPLAY).all(key, key, key) as unknown as EventRow[]),
    hurry() {}, // a local file needs no timeouts
    close() {
      closing ??= writer.close().then(() => {
        // Closing writes the write-ahead log into the database. That must not happen if the disk has lost part of the
        // log: the next start reads it by its checksums.
        if (!writer.broken.aborted) db.close()
        lock?.close()
      })
      return closing
    },
  }
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw toReadFailure(error)
  }
}

/** With less free space writes are refused, because the log can grow by this much quickly. */
const MIN_FREE_BYTES = 1024 * 1024

async function demandSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await promisify(statfs)(folder)
  if (bavail * bsize < MIN_FREE_BYTES) throw failure("store_unavailable", { problem: DISK_FULL })
}

/** Needs new pages and then fails, which undoes it: a file's size may be limited in other ways than by the disk. */
const NEW_PAGES: Operation = {
  type: "statements",
  statements: [
    { sql: "INSERT INTO node (id, beats, locked) VALUES (hex(zeroblob(32768)), 0, 0)", values: [] },
    { sql: "DELETE FROM node WHERE id IS NULL", values: [], mustChange: true },
  ],
}

/**
 * Takes the lock that proves that previous owners have ended: the operating system releases it when its holder ends.
 * Undefined while another process has it. An empty SQLite database, because Node has no other lock that works on every
 * system.
 */
export function lockFile(file: string): DatabaseSync | undefined {
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    db.exec("PRAGMA journal_mode = MEMORY") // no separate journal file
    db.exec("PRAGMA locking_mode = EXCLUSIVE")
    db.exec("BEGIN EXCLUSIVE")
    return db
  } catch {
    db.close()
    return undefined
  }
}
