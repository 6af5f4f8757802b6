import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { type ConnectionId, isId, type StoredBytes, type UserId } from "../../../core/pack.ts"
import { uploadedBytes, uploadPath } from "../sqlite/upload-path.ts"

/**
 * The purpose of a work folder, in case its process ends: a file without a connection, or all files of an erased user.
 */
type Intent = Owner | { readonly user: UserId; readonly everything: true }

const INTENT = "intent.json"

/** The store of databases that were created from uploads. */
export interface UploadedDatabases {
  /** The path in the connection's target. */
  pathOf(id: ConnectionId): string
  /** Creates an empty folder for one job, and deletes it afterwards. */
  work<T>(run: (folder: string) => Promise<T>): Promise<T>
  /**
   * Moves a finished database to its path and records its connection, in one transaction with the bytes if the store
   * has them.
   */
  place(folder: string, from: string, owner: Owner, record: (stored?: StoredBytes) => Promise<void>): Promise<void>
  /** Deletes a connection with `forget`, and its file if it exists; `path` is set if the file is in the store. */
  remove(owner: Owner, forget: (path?: string) => Promise<void>): Promise<void>
  /** Deletes all uploads of a user. Files of an upload in progress are deleted later by the sweep. */
  removeAll(user: UserId): Promise<void>
  bytesOf(user: UserId): Promise<number>
  /** Called when a server starts: reverts the unfinished work of ended processes. */
  sweep(): Promise<void>
  /** Called periodically: removes files from this machine that were deleted on another. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export interface Owner {
  readonly user: UserId
  readonly id: ConnectionId
}

/**
 * Stores uploads as databases: `<root>/<user>/csv/<connection>.db`. Each job has its own work folder, named after its
 * process, and records there what it will do before it does it. After a crash, the next process finishes or reverts it.
 */
export class CsvFiles implements UploadedDatabases {
  readonly #root: string
  readonly #isRecorded: (user: UserId, id: ConnectionId) => Promise<boolean>

  constructor(root: string, isRecorded: (user: UserId, id: ConnectionId) => Promise<boolean>) {
    this.#root = root
    this.#isRecorded = isRecorded
  }

  pathOf = uploadPath

  async work<T>(run: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(this.#workplace, `${hostname()}.${process.pid}.${randomBytes(8).toString("hex")}`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      return await run(folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /**
   * Moves a finished database to its path, then records its connection. After a crash in between, no connection refers
   * to the file, and the sweep deletes it.
   */
  async place(folder: string, from: string, owner: Owner, record: () => Promise<void>) {
    const file = this.#fileOf(owner.user, owner.id)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await this.#intend(folder, owner)
    await syncFile(from)
    await rename(from, file)
    await syncFolder(dirname(file))
    try {
      await record()
    } catch (error) {
      // The error may mean that only the answer was lost: a recorded connection must not lose its file.
      const recorded = await this.#isRecorded(owner.user, owner.id).catch(() => undefined)
      if (recorded === false) await rm(file, { force: true })
      if (recorded === undefined) await this.#leaveToSweep(owner)
      throw error
    }
  }

  async remove(owner: Owner, forget: () => Promise<void>): Promise<void> {
    const file = this.#fileOf(owner.user, owner.id)
    if (!(await stat(file).catch(() => undefined))) return forget()
    await this.work(async (folder) => {
      await this.#intend(folder, owner)
      await forget()
      await rm(file, { force: true })
    })
  }

  async removeAll(user: UserId): Promise<void> {
    const folder = join(this.#root, user, "csv")
    if (!(await stat(folder).catch(() => undefined))) return
    await this.#leaveToSweep({ user, everything: true })
    await rm(folder, { recursive: true, force: true })
  }

  bytesOf(user: UserId): Promise<number> {
    return uploadedBytes(join(this.#root, user))
  }

  async sweep(): Promise<void> {
    for (const name of await readdir(this.#workplace).catch(() => [])) {
      const folder = join(this.#workplace, name)
      if (await isAtWork(name, folder)) continue
      const intent = await readFile(join(folder, INTENT), "utf8").then(toIntent, () => undefined)
      if (intent && "everything" in intent)
        await rm(join(this.#root, intent.user, "csv"), { recursive: true, force: true })
      else if (intent && !(await this.#isRecorded(intent.user, intent.id)))
        await rm(this.#fileOf(intent.user, intent.id), { force: true })
      await rm(folder, { recursive: true, force: true })
    }
  }

  async tidy(): Promise<void> {} // uploads are deleted on this machine

  async close(): Promise<void> {}

  /** The folder of all jobs, with a name that no person's folder has. */
  get #workplace(): string {
    return join(this.#root, ".uploads")
  }

  #fileOf(user: UserId, id: ConnectionId): string {
    return join(this.#root, user, this.pathOf(id))
  }

  /** Leaves the decision to the sweep of the next process. */
  async #leaveToSweep(intent: Intent): Promise<void> {
    const left = join(this.#workplace, `${hostname()}.${process.pid}.${randomBytes(8).toString("hex")}`)
    await mkdir(left, { recursive: true, mode: 0o700 })
    await this.#intend(left, intent)
  }

  async #intend(folder: string, intent: Intent): Promise<void> {
    await writeFile(join(folder, INTENT), JSON.stringify(intent), { flush: true })
  }
}

/** Processes of other machines cannot be checked, so a folder older than the longest upload counts as abandoned. */
const LONGEST_MS = 60 * 60 * 1000

async function isAtWork(name: string, folder: string): Promise<boolean> {
  const [, host, pid] = /^(.*)\.(\d+)\.[0-9a-f]+$/.exec(name) ?? []
  const begun = await stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  if (Date.now() - begun > LONGEST_MS) return false
  return host !== hostname() || (Number(pid) !== process.pid && isAlive(Number(pid)))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"
  }
}

function toIntent(text: string): Intent | undefined {
  try {
    const { user, id, everything } = JSON.parse(text) as { user?: string; id?: string; everything?: boolean }
    if (!isId("user", user ?? "")) return undefined
    if (everything) return { user: user as UserId, everything }
    return isId("conn", id ?? "") ? { user: user as UserId, id: id as ConnectionId } : undefined
  } catch {
    return undefined // it crashed while it wrote this, so before it did anything
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, "r+")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r")
  await handle.sync().catch(() => {}) // not supported by every system
  await handle.close()
}
