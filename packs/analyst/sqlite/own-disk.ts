import { randomBytes } from "node:crypto"
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { failure, type FileDisks, type UserId } from "../../../core/pack.ts"

const ID = /^[0-9a-f]{32}$/

/**
 * Files that an operator has put into the folders of people, where several machines share the store. One that was changed is
 * another one from then on than a file of its name on another disk: it is read and changed only where it was. A folder that
 * machines share is one disk, whichever of them asks; it is known by a file in it, which moves with it.
 */
export class OwnDisk {
  readonly #disks: FileDisks
  readonly #root: string

  constructor(disks: FileDisks, root: string) {
    this.#disks = disks
    this.#root = root
  }

  /** Throws where the file was changed on another disk. */
  async demandRead(user: UserId, path: string): Promise<void> {
    const disk = await this.#disks.diskOf(user, path)
    if (disk !== undefined && disk !== (await this.#id())) throw elsewhere()
  }

  /** The same, and from now on this is the disk that it is on. */
  async demandChange(user: UserId, path: string): Promise<void> {
    const id = await this.#id()
    if ((await this.#disks.claimDisk(user, path, id)) !== id) throw elsewhere()
  }

  /** Read each time: another folder may be mounted here by now. */
  async #id(): Promise<string> {
    const file = join(this.#root, ".disk")
    const known = await readFile(file, "utf8").catch(() => "")
    if (ID.test(known)) return known
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const draft = `${file}.${randomBytes(6).toString("hex")}`
    try {
      await writeFile(draft, randomBytes(16).toString("hex"), { flag: "wx", mode: 0o600, flush: true })
      // By a link, which never replaces: of several that come at once one names the disk.
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
