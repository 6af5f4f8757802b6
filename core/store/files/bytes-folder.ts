import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, lstat, open, opendir } from "node:fs/promises"
import { join } from "node:path"
import { type AppError, failure } from "../../protocol/errors.ts"
import { toWriteFailure } from "../engine/store-failure.ts"
import { type BytesPlace, type Content, type PlacedBytes, unreadable } from "./bytes-place.ts"
import { type FolderDisk, folderDisk } from "./folder-disk.ts"
import { type FolderMark, readMark } from "./folder-mark.ts"

/** Bytes that are in memory at a time of a file that is read. */
const PORTION = 1024 * 1024
/** Files that are known to be what they were: a model is shown the beginning of one again and again. */
const MAX_VERIFIED = 10_000
const NAME = /^[0-9a-f]{32}$/
/** A file that is being written, or was when a process died. */
const PART = ".part"
/** Neither through a link that somebody has put there, nor waiting for what is no file. Windows has neither. */
const AS_IT_IS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Files in one folder, which the nodes of a database share. It is known by its mark, asked for with every write and removal:
 * in the empty folder under a disk that is not mounted nothing is written, and nothing counts as removed.
 */
export class BytesFolder implements BytesPlace {
  readonly path: string
  readonly #mark: FolderMark
  readonly #disk: FolderDisk
  /** By name, with what tells whether anybody has touched the file since. */
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
      await this.#disk.create(path + PART, bytes)
      await this.#disk.rename(path + PART, path)
      await this.#disk.sync(this.path)
      await this.#demandMark() // the disk may have gone meanwhile, and the file to what lies under it
    } catch (error) {
      await this.#disk.remove(path + PART).catch(() => {}) // swept up later
      await this.#disk.remove(path).catch(() => {})
      throw toFolderFailure(error)
    }
  }

  async *read(name: string, { sha256, size }: Content, most = size): AsyncGenerator<Uint8Array> {
    const file = await this.#open(name)
    try {
      // All of it before any of it is given: who reads half of a file that is another one cannot give that half back.
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
        await this.#disk.remove(this.#pathOf(name) + PART)
        await this.#disk.remove(this.#pathOf(name))
      }
      await this.#disk.sync(this.path)
    } catch (error) {
      throw toFolderFailure(error)
    }
    await this.#demandMark()
  }

  async *list(): AsyncGenerator<PlacedBytes> {
    await this.#demandMark()
    for await (const { name } of await opendir(this.path)) {
      const whole = name.endsWith(PART) ? name.slice(0, -PART.length) : name
      if (!NAME.test(whole)) continue // not ours
      const found = await lstat(join(this.path, name)).catch(() => undefined)
      if (found && !found.isDirectory()) yield { name: whole, writtenAt: found.mtimeMs }
    }
  }

  async #open(name: string): Promise<FileHandle> {
    try {
      const file = await open(this.#pathOf(name), AS_IT_IS)
      if ((await file.stat()).isFile()) return file
      await file.close()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === "ENOENT" || code === "ENOTDIR") throw unreadable((await this.#isHere()) ? MISSING : AWAY)
      if (code !== "ELOOP") throw unreadable(`its content cannot be read from the folder for files (${code})`)
    }
    throw unreadable(DAMAGED)
  }

  async #isHere(): Promise<boolean> {
    const mark = await readMark(this.path).catch(() => undefined)
    return mark?.database === this.#mark.database && mark.folder === this.#mark.folder
  }

  async #demandMark(): Promise<void> {
    if (!(await this.#isHere())) throw failure("store_unavailable", { problem: AWAY_NOW })
  }

  /** What is no name of ours leads nowhere else. */
  #pathOf(name: string): string {
    if (!NAME.test(name)) throw unreadable(DAMAGED)
    return join(this.path, name)
  }
}

const MISSING = "its content is missing from the folder for files (PAWL_FILES_FOLDER). Upload it again"
const DAMAGED = "its content in the folder for files (PAWL_FILES_FOLDER) was changed. Upload it again"
const AWAY = "the folder for files (PAWL_FILES_FOLDER) is missing. The operator must check that its disk is mounted"
const AWAY_NOW = "the folder for files (PAWL_FILES_FOLDER) is missing. Check that its disk is mounted"

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

/** Another text when anybody has written to the file, or put another one in its place. */
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
  if (bytesRead === 0) throw unreadable(DAMAGED) // cut while it is read
  return bytes.subarray(0, bytesRead)
}
