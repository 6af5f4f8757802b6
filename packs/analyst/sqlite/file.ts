import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs"
import { basename, join, sep } from "node:path"
import { pathToFileURL } from "node:url"

/** A file that is opened first and then checked: its identity and path come from its descriptor. */
export interface SqliteFile {
  readonly path: string
  readonly descriptor: number
}

/** How SQLite opens a file without leaving other files next to it. */
export type OpenMode = "locked" | "live" | "still" | "copied"

const MAX_COPY = 512 * 1024 * 1024
const MAGIC = "SQLite format 3\0"
const onLinux = process.platform === "linux"

/** Opens a file in one of these folders; undefined for any other file, with links resolved. */
export function openFile(path: string, folders: readonly string[]): SqliteFile | undefined {
  let descriptor: number
  try {
    // Non-blocking, because opening a pipe would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const real = onLinux ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path)
    const inside = folders.some((folder) => real.startsWith(realFolder(folder)))
    if (inside && fstatSync(descriptor).isFile() && same(descriptor, real) && isDatabase(descriptor))
      return { path: real, descriptor }
  } catch {
    // deleted, or replaced
  }
  closeSync(descriptor)
  return undefined
}

/** Ends with the separator, so that `user_1` does not match `user_12`. The folder itself must not be a link. */
function realFolder(folder: string): string {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? realpathSync(folder) + sep : "\0"
}

function same(descriptor: number, path: string): boolean {
  const [open, there] = [fstatSync(descriptor), lstatSync(path)]
  return open.ino === there.ino && open.dev === there.dev
}

function isDatabase(descriptor: number): boolean {
  const head = Buffer.alloc(MAGIC.length)
  return readSync(descriptor, head, 0, head.length, 0) === head.length && head.toString("latin1") === MAGIC
}

/**
 * Chooses how to open a file. Even a read-only open creates a missing write-ahead log and its index. `locked`: a
 * database without a log is read under SQLite's locks. `live`: one that a program has open is read through that
 * program's index. `still`: one that no program has open is read as immutable and checked again afterwards. `copied`:
 * if a crash left a log, the database and its log are copied.
 */
export function openModeOf({ path, descriptor }: SqliteFile): OpenMode {
  const versions = Buffer.alloc(2)
  readSync(descriptor, versions, 0, 2, 18)
  if (versions[1] !== 2) return "locked"
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log && existsSync(`${path}-shm`)) return "live"
  return log && log.size > 0 ? "copied" : "still"
}

/** The URI for SQLite. `scratch`: the folder for a copy. */
export function addressOf(file: SqliteFile, way: OpenMode, scratch: string): string {
  if (way === "copied") return pathToFileURL(copyOf(file, scratch)).href
  const options = { locked: "mode=ro&readonly_shm=1", live: "mode=ro&readonly_shm=1", still: "mode=ro&immutable=1" }
  return `${pathToFileURL(file.path).href}?${options[way]}`
}

function copyOf({ path, descriptor }: SqliteFile, scratch: string): string {
  const size = fstatSync(descriptor).size + statSync(`${path}-wal`).size
  if (size > MAX_COPY) throw new Error("its program has crashed and it is too large to be repaired here; open it once")
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  const copy = join(scratch, basename(path))
  copyFileSync(onLinux ? `/proc/self/fd/${descriptor}` : path, copy, constants.COPYFILE_FICLONE)
  copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE)
  return copy
}

export function dropCopy(scratch: string): void {
  rmSync(scratch, { recursive: true, force: true })
}

/** Identifies the version of a file that is read as immutable. */
export function stateOf({ path, descriptor }: SqliteFile): string {
  const { size, mtimeNs, ino } = fstatSync(descriptor, { bigint: true })
  return [size, mtimeNs, ino, existsSync(`${path}-wal`)].join(" ")
}

/** The files that SQLite creates next to a database: the log, its index, and the rollback journal. */
const BESIDE = ["-wal", "-shm", "-journal"]

/**
 * True if every file opened since then is the checked one, its log or its log's index. SQLite opens files by name, and
 * a name may refer to another file in the meantime.
 */
export function openedOnly({ path, descriptor }: SqliteFile, before: ReadonlySet<string>): boolean {
  if (!onLinux) return same(descriptor, path)
  const [judged] = identityOf(descriptor)
  return [...openFiles()].every((file) => {
    if (before.has(file)) return true
    const [number, identity] = file.split(" ")
    const name = readlinkSync(`/proc/self/fd/${number}`)
    return name === path ? identity === judged : BESIDE.some((ending) => name === path + ending)
  })
}

/** The regular files that this process has open: the descriptor and the identity of each. */
export function openFiles(): ReadonlySet<string> {
  const numbers = onLinux ? readdirSync("/proc/self/fd") : []
  // By identity, not only by descriptor: the descriptor that read this folder is free again, and the next opened file
  // gets it.
  return new Set(numbers.flatMap((number) => identityOf(Number(number)).map((identity) => `${number} ${identity}`)))
}

/** Empty if it is not a regular file or is closed. */
function identityOf(descriptor: number): string[] {
  try {
    const stat = fstatSync(descriptor, { bigint: true })
    return stat.isFile() ? [`${stat.dev}:${stat.ino}`] : []
  } catch {
    return []
  }
}
