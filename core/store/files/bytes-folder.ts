import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, lstat, open, opendir } from "node:fs/promises"
import { join } from "node:path"
import { type AppError, failure } from "../../protocol/errors.ts"
import { toWriteFailure } from "../engine/store-failure.ts"
import { type ByteStore, type Content, type StoredName, unreadable } from "./byte-store.ts"
import { type FolderDisk, folderDisk } from "./folder-disk.ts"
import { type FolderMark, readMark } from "./folder-mark.ts"

/** Bytes of a file in memory at a time. */
const PORTION = 1024 * 1024
/** Cached verifications: models are shown the start of a file again and again. */
const MAX_VERIFIED = 10_000
const NAME = /^[0-9a-f]{32}$/
/** The suffix of a file that is being written, or was when a process failed. */
const PARTIAL = ".part"
/** Does not follow links or wait for pipes. Windows has neither flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Files in a folder that the nodes of a database share. The folder is identified by a mark, which is checked with every
 * write and removal: nothing is written to or considered removed from the empty folder under an unmounted disk.
 */
export class BytesFolder implements ByteStore {
  readonly path: string
  readonly #mark: FolderMark
  readonly #disk: FolderDisk
  /** By name: the file's state when it was verified. */
  readonly #verified = new Map<string, string>()

  constructor(path: string, mark: FolderMark, disk: FolderDisk = folderDisk) {
    this.path = path
    this.#mark = mark
    this.#disk = disk
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(name)
    await this.#demandMark()
    try {
      await this.#disk.create(path + PARTIAL, bytes)
      await this.#disk.rename(path + PARTIAL, path)
      await this.#disk.sync(this.path)
      await this.#demandMark() // if the disk was unmounted meanwhile, the file went to the folder below it
    } catch (error) {
      await this.#disk.remove(path + PARTIAL).catch(() => {}) // otherwise removed by a sweep
      await this.#disk.remove(path).catch(() => {})
      throw toFolderFailure(error)
    }
  }

  async *read(name: string, { sha256, size }: Content, most = size): AsyncGenerator<Uint8Array> {
    const file = await this.#open(name)
    try {
      // Verifies the whole file before returning any of it, because a caller cannot undo what it has read.
      const state = await stateOf(file)
      if (this.#verified.get(name) !== `${sha256} ${state}`) {
        if ((await file.stat()).size !== size || (await hashOf(file, size)) !== sha256) throw unreadable(DAMAGED)
        if (this.#verified.size >= MAX_VERIFIED) this.#verified.clear()
        this.#verified.set(name, `${sha256} ${state}`)
      }
      const again = createHash("sha256")
      for (let at = 0; at < Math.min(size, most);) {
        const portion = await readAt(file, at, size)
        again.update(portion)
        at += portion.length
        if (at === size && again.digest("hex") !== sha256) throw unreadable(DAMAGED)
        yield at > most ? portion.subarray(0, portion.length - (at - most)) : portion
      }
    } finally {
      await file.close()
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    await this.#demandMark()
    try {
      for (const name of names.filter((each) => NAME.test(each))) {
        await this.#disk.remove(this.#pathOf(name) + PARTIAL)
        await this.#disk.remove(this.#pathOf(name))
      }
      await this.#disk.sync(this.path)
    } catch (error) {
      throw toFolderFailure(error)
    }
    await this.#demandMark()
  }

  async *list(): AsyncGenerator<StoredName> {
    await this.#demandMark()
    for await (const { name } of await opendir(this.path)) {
      const whole = name.endsWith(PARTIAL) ? name.slice(0, -PARTIAL.length) : name
      if (!NAME.test(whole)) continue // not ours
      const found = await lstat(join(this.path, name)).catch(() => undefined)
      if (found && !found.isDirectory()) yield { name: whole, writtenAt: found.mtimeMs }
    }
  }

  async #open(name: string): Promise<FileHandle> {
    try {
      const file = await open(this.#pathOf(name), READ_FLAGS)
      if ((await file.stat()).isFile()) return file
      await file.close()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === "ENOENT" || code === "ENOTDIR") throw unreadable((await this.#hasMark()) ? MISSING : FOLDER_MISSING)
      if (code !== "ELOOP") throw unreadable(`its content cannot be read from the folder for files (${code})`)
    }
    throw unreadable(DAMAGED)
  }

  async #hasMark(): Promise<boolean> {
    const mark = await readMark(this.path).catch(() => undefined)
    return mark?.database === this.#mark.database && mark.folder === this.#mark.folder
  }

  async #demandMark(): Promise<void> {
    if (!(await this.#hasMark())) throw failure("store_unavailable", { problem: FOLDER_MISSING_NOW })
  }

  /** Rejects any name that we did not create, so that it cannot lead to another path. */
  #pathOf(name: string): string {
    if (!NAME.test(name)) throw unreadable(DAMAGED)
    return join(this.path, name)
  }
}

const MISSING = "its content is missing from the folder for files (PAWL_FILES_FOLDER). Upload it again"
const DAMAGED = "its content in the folder for files (PAWL_FILES_FOLDER) was changed. Upload it again"
const FOLDER_MISSING =
  "the folder for files (PAWL_FILES_FOLDER) is missing. The operator must check that its disk is mounted"
const FOLDER_MISSING_NOW = "the folder for files (PAWL_FILES_FOLDER) is missing. Check that its disk is mounted"

function toFolderFailure(error: unknown): AppError {
  const { code } = error as NodeJS.ErrnoException
  if (code === "EDQUOT" || code === "ENOSPC") return toWriteFailure(Object.assign(error as Error, { code: "ENOSPC" }))
  if (code === "store_unavailable" || code === "file_unreadable") return error as unknown as AppError
  const known = failure("store_unavailable", {
    problem: `the folder for files (PAWL_FILES_FOLDER) cannot be used: ${code}`,
  })
  known.cause = error
  return known
}

/** Changes if the file was written to or replaced. */
async function stateOf(file: FileHandle): Promise<string> {
  const { size, mtimeNs, ctimeNs, ino, dev } = await file.stat({ bigint: true })
  return `${size} ${mtimeNs} ${ctimeNs} ${ino} ${dev}`
}

async function hashOf(file: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256")
  for (let at = 0; at < size;) {
    const portion = await readAt(file, at, size)
    hash.update(portion)
    at += portion.length
  }
  return hash.digest("hex")
}

async function readAt(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.min(PORTION, size - at))
  const { bytesRead } = await file.read(bytes, 0, bytes.length, at).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`its content cannot be read from the folder for files (${error.code})`)
  })
  if (bytesRead === 0) throw unreadable(DAMAGED) // truncated while it was read
  return bytes.subarray(0, bytesRead)
}
