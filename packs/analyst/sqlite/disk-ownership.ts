import { randomBytes } from "node:crypto"
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { failure, type FileDisks, type UserId } from "../../../core/pack.ts"

const ID = /^[0-9a-f]{32}$/

/**
 * Files that an operator has put into people's folders while several machines share the store. Once such a file is
 * changed, it differs from files of the same name on other disks, so it is read and changed only on that disk. A folder
 * that machines share is one disk. It is identified by a file in it, which moves with it.
 */
export class DiskOwnership {
  readonly #disks: FileDisks
  readonly #root: string

  constructor(disks: FileDisks, root: string) {
    this.#disks = disks
    this.#root = root
  }

  /** Throws if the file was changed on another disk. */
  async demandRead(user: UserId, path: string): Promise<void> {
    const disk = await this.#disks.diskOf(user, path)
    if (disk !== undefined && disk !== (await this.#id())) throw elsewhere()
  }

  /** The same, and records that the file is now on this disk. */
  async demandChange(user: UserId, path: string): Promise<void> {
    const id = await this.#id()
    if ((await this.#disks.claimDisk(user, path, id)) !== id) throw elsewhere()
  }

  /** Read each time, because another folder may have been mounted. */
  async #id(): Promise<string> {
    const file = join(this.#root, ".disk")
    const known = await readFile(file, "utf8").catch(() => "")
    if (ID.test(known)) return known
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const draft = `${file}.${randomBytes(6).toString("hex")}`
    try {
      await writeFile(draft, randomBytes(16).toString("hex"), { flag: "wx", mode: 0o600, flush: true })
      // A link never replaces a file, so if several processes do this, one of them sets the id.
      await link(draft, file).catch((error: { code?: string }) => {
        if (error.code !== "EEXIST") throw error
      })
    } finally {
      await rm(draft, { force: true })
    }
    const id = await readFile(file, "utf8")
    if (!ID.test(id)) throw failure("connection_failed", { problem: "the file .disk in PAWL_SQLITE_ROOT is damaged" })
    return id
  }
}

const elsewhere = () =>
  failure("connection_failed", {
    problem:
      "its file has been changed on the disk of another node, and only there is it what it was; the nodes have to share the folder PAWL_SQLITE_ROOT",
  })
