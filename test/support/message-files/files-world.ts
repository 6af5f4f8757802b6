import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import type { FileId, UserId } from "../../../core/protocol/ids.ts"
import type { MessageFiles, NewMessageFile } from "../../../core/engine/stored-files.ts"
import type { Engine } from "../../../core/store/engine/engine.ts"
import { BytesFolder } from "../../../core/store/files/bytes-folder.ts"
import { FolderFiles } from "../../../core/store/files/folder-files.ts"
import { type FolderDisk, folderDisk } from "../../../core/store/files/folder-disk.ts"
import { MARK_FILE, readMark } from "../../../core/store/files/folder-mark.ts"
import { SqlMessageFiles } from "../../../core/store/files/message-files.ts"
import type { Store } from "../../../core/store/store.ts"

/** More bytes than rows may hold. */
export const LARGE = 1024 * 1024 + 5

export const large = (letter: string, name = "a.txt"): NewMessageFile => fileOf(Buffer.alloc(LARGE, letter), name)

export function fileOf(bytes: Buffer, name = "a.txt"): NewMessageFile {
  return { name, type: "text/plain", bytes, sha256: createHash("sha256").update(bytes).digest("hex") }
}

export const newFolder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "files-"))

/** The names in a folder, without its mark. */
export const namesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== MARK_FILE)
    .sort()

export async function bytesOf(files: Pick<MessageFiles, "read">, user: UserId, id: FileId, most?: number) {
  const parts: Uint8Array[] = []
  for await (const part of files.read(user, id, most)) parts.push(part)
  return Buffer.concat(parts)
}

/** Files over another engine or disk than the store's own. */
export async function filesOver(store: Store, given: { engine?: Engine; disk?: FolderDisk }): Promise<SqlMessageFiles> {
  const { engine = store.engine, disk = folderDisk } = given
  const path = store.filesFolder ?? ""
  const mark = await readMark(path)
  if (!mark) throw new Error(`${path} has no mark`)
  const now = () => store.clock.now()
  const places = new FolderFiles(engine, { place: new BytesFolder(path, mark, disk), now })
  return new SqlMessageFiles(engine, places, now)
}

/** A process that crashes at its n-th step, whether that is one of the database or of the disk. */
export function mortal(at: number, when: "before" | "after") {
  let steps = 0
  let dead = false
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (dead) throw new Error("dead")
    if (++steps !== at) return work()
    dead = true
    if (when === "after") await work()
    throw new Error(`died at step ${at}`)
  }
  return {
    isDead: () => dead,
    disk: (disk: FolderDisk): FolderDisk => ({
      create: (path, bytes) => step(() => disk.create(path, bytes)),
      rename: (from, to) => step(() => disk.rename(from, to)),
      sync: (folder) => step(() => disk.sync(folder)),
      remove: (path) => step(() => disk.remove(path)),
    }),
    engine: (engine: Engine): Engine =>
      new Proxy(engine, {
        get(target, name) {
          const value = Reflect.get(target, name, target) as unknown
          if (typeof value !== "function") return value
          const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
          if (name === "change") return (...given: unknown[]) => step(() => method(...given))
          return dead && name === "query" ? () => Promise.reject(new Error("dead")) : method
        },
      }),
  }
}
