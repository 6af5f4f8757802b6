import { randomBytes } from "node:crypto"
import type { StatsFs } from "node:fs"
import { open, rm, stat, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import type { Engine } from "../../../core/store/engine/engine.ts"
import type { Store } from "../../../core/store/store.ts"
import { findSandbox } from "../../../packs/files/sandbox/sandbox.ts"
import { doctorText } from "../../strings/doctor.ts"
import { bytesText } from "../../strings/plural.ts"
import type { Config } from "../settings/config.ts"

const GIGABYTE = 1_000_000_000
/** With less free space a day's work may not fit. */
const LITTLE_BYTES = GIGABYTE
/** With less free space the next files do not fit. */
const NEARLY_NONE_BYTES = 100_000_000
/** Commits share an fsync, so this is about how long a person waits for an acknowledgement. */
const SLOW_MS = 50
/** The magic number of tmpfs in statfs. */
const TMPFS = 0x01021994
const PROBE_BYTES = 64 * 1024

interface DiskProbe {
  readonly statDisk?: (folder: string) => Promise<Pick<StatsFs, "bavail" | "bsize" | "type">>
  readonly now?: () => number
}

/** Whether a folder is writable and how long a write takes, measured with a file. */
export async function* examineDisk(
  name: string,
  folder: string,
  { statDisk = statfs, now = () => performance.now() }: DiskProbe = {},
): AsyncGenerator<Finding> {
  try {
    const { bavail, bsize, type } = await statDisk(folder)
    const free = bavail * bsize
    const ms = await probe(folder, now)
    yield [markOf(free), doctorText.freeSpace(name, folder, (free / GIGABYTE).toFixed(1), free < LITTLE_BYTES)]
    yield ms > SLOW_MS ? ["note", doctorText.slowFsync(name, ms)] : ["ok", doctorText.fsync(name, ms)]
    if (type === TMPFS) yield ["note", doctorText.inMemory(name, folder)]
  } catch (error) {
    yield ["wrong", doctorText.cannotWrite(name, folder, failureReason(error))]
  }
}

async function probe(folder: string, now: () => number): Promise<number> {
  const path = join(folder, `.doctor-${randomBytes(6).toString("hex")}`)
  const began = now()
  try {
    const file = await open(path, "wx", 0o600)
    try {
      await file.write(Buffer.alloc(PROBE_BYTES, 1))
      await file.sync()
    } finally {
      await file.close()
    }
    return now() - began
  } finally {
    await rm(path, { force: true })
  }
}

function markOf(free: number): Finding[0] {
  if (free < NEARLY_NONE_BYTES) return "wrong"
  return free < LITTLE_BYTES ? "note" : "ok"
}

/** The durability in effect, as the database reports it: a role or a file system may override a setting. */
export async function* examineDurability(
  engine: Pick<Engine, "name" | "query">,
  durability: "full" | "normal",
): AsyncGenerator<Finding> {
  const { isDurable, what } = engine.name === "sqlite" ? await askSqlite(engine, durability) : await askPostgres(engine)
  yield isDurable ? ["ok", doctorText.durability(durability, what)] : ["wrong", doctorText.durabilityProblem(what)]
  if (durability === "normal") yield ["note", doctorText.relaxed]
}

async function askSqlite({ query }: Pick<Engine, "query">, durability: "full" | "normal") {
  const [mode] = await query<{ journal_mode: string }>("PRAGMA journal_mode", [])
  const [sync] = await query<{ synchronous: number }>("PRAGMA synchronous", [])
  const isLogged = mode?.journal_mode === "wal" || mode?.journal_mode === "memory"
  if (!isLogged) return { isDurable: false, what: doctorText.noWriteAheadLog(mode?.journal_mode) }
  // With `full` our own thread syncs the log after each commit, except for the first one.
  const level = ["OFF", "NORMAL", "FULL", "EXTRA"][sync?.synchronous ?? 0] ?? "unknown"
  if (level === "OFF") return { isDurable: false, what: doctorText.noSync }
  return { isDurable: true, what: doctorText.sqliteInForce(level, durability === "full") }
}

/** The readiness check of the store reports settings that are off, with the remedy. */
async function askPostgres({ query }: Pick<Engine, "query">) {
  const names = ["fsync", "full_page_writes", "synchronous_commit"]
  const sql = `SELECT name, setting FROM pg_settings WHERE name IN (${names.map(() => "?").join(", ")}) ORDER BY name`
  const rows = await query<{ name: string; setting: string }>(sql, names)
  return {
    isDurable: true,
    what: doctorText.postgresInForce(rows.map(({ name, setting }) => `${name} ${setting}`).join(", ")),
  }
}

/** Reports the folder of large files, and whether they can be read. With the wrong folder the store does not open. */
export async function* examineFiles({ folderFiles, filesFolder }: Store): AsyncGenerator<Finding> {
  const { files, bytes, toRemove } = await folderFiles.count()
  const size = bytesText(bytes)
  if (filesFolder === undefined) {
    if (files + toRemove > 0) yield ["wrong", doctorText.filesUnavailable(files + toRemove, size)]
    return
  }
  yield ["ok", doctorText.files(filesFolder, files, size)]
  const lost = await folderFiles.countLost()
  if (lost > 0) yield ["wrong", doctorText.filesLost(lost, filesFolder)]
  if (toRemove > 0) yield ["note", doctorText.filesToRemove(toRemove, filesFolder)]
  if (process.platform !== "win32" && (await stat(filesFolder)).mode & 0o077)
    yield ["note", doctorText.readableByOthers(filesFolder)]
}

/** The sandbox for commands of the agent `files` and for MCP programs. */
export function examineSandbox({
  commandEnvironment,
  dataFolder,
}: Pick<Config, "commandEnvironment" | "dataFolder">): Finding {
  const root = join(tmpdir(), "pawl-doctor") // only its name is used: nothing runs in it
  const place = { root, home: commandEnvironment.HOME ?? tmpdir(), hidden: [], homes: dataFolder, id: "doctor" }
  const {
    isEnforced: holds,
    description: says,
    remedy,
  } = findSandbox({ searchPath: commandEnvironment.PATH ?? "", ...place })
  if (holds) return ["ok", doctorText.sandbox]
  return ["note", doctorText.noSandbox(says, remedy)]
}

/** A finding of `pawl doctor`, with the remedy if it is wrong. */
export type Finding = readonly [mark: "ok" | "note" | "wrong", what: string]
