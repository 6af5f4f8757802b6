import { mkdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { hasCode } from "../../protocol/errors.ts"
import { exists, alreadyExists } from "../engine/publish-file.ts"
import { BytesFolder } from "./bytes-folder.ts"
import { folderDisk } from "./folder-disk.ts"
import { type FolderMark, readMark, writeMark } from "./folder-mark.ts"

export interface FolderBackup {
  /** The copy of the database, which lists the files. */
  readonly copy: string
  /** The original database, in use or not. */
  readonly database: string
  /** The folder for large files, if configured. */
  readonly folder: string | undefined
  /** The path of the copy, which must not exist yet. */
  readonly to: string
}

export interface BackedUp {
  readonly files: number
  readonly bytes: number
  /** Files that were already lost or damaged. */
  readonly unreadable: number
}

interface FolderFile {
  readonly place: string
  readonly id: string
  readonly sha256: string
  readonly size: number
}

/**
 * Copies and verifies the files that a copy of the database refers to. Files never change, so the two are consistent.
 * The folder gets its name when it is complete; without files there is none.
 */
export async function backUpFolder({ copy, database, folder, to }: FolderBackup): Promise<BackedUp> {
  if (await exists(to)) throw alreadyExists(to)
  using db = new DatabaseSync(copy, { readOnly: true })
  if (!hasTable(db)) return NOTHING
  const files = db.prepare(FOLDER_FILES).all() as unknown as FolderFile[]
  if (files.length === 0) return NOTHING
  const mark = db.prepare("SELECT database_mark AS database, folder_mark AS folder FROM files_folder").get()
  const from = await folderOf(folder, files.length, mark as unknown as FolderMark)
  // In the same folder, so that it can be renamed in one step.
  const partial = join(dirname(to), `.${basename(to)}.${process.pid}.partial`)
  await mkdir(partial, { mode: 0o700 })
  try {
    const done = await copyAll(from, partial, { folderFiles: files, database })
    await writeMark(partial, mark as unknown as FolderMark)
    await rename(partial, to)
    await folderDisk.sync(dirname(to))
    return done
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

const NOTHING: BackedUp = { files: 0, bytes: 0, unreadable: 0 }
const FOLDER_FILES = `SELECT p.place, f.id, f.hash AS sha256, f.size FROM file_place p JOIN message_file f ON f.id = p.file
  WHERE f.hash IS NOT NULL ORDER BY p.place`

/** Older versions have no such table. */
function hasTable(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'file_place'").get() !== undefined
}

async function folderOf(path: string | undefined, files: number, mark: FolderMark): Promise<BytesFolder> {
  if (path === undefined)
    throw new Error(
      `${files} attached files are stored in a folder and would be missing from the backup: set PAWL_FILES_FOLDER to that folder`,
    )
  const found = await readMark(path)
  if (found?.database !== mark.database || found.folder !== mark.folder)
    throw new Error(`${path} (PAWL_FILES_FOLDER) is not the folder that contains the ${files} attached files`)
  return new BytesFolder(path, mark)
}

async function copyAll(
  from: BytesFolder,
  to: string,
  { folderFiles, database }: { readonly folderFiles: readonly FolderFile[]; readonly database: string },
): Promise<BackedUp> {
  let [files, bytes, unreadable] = [0, 0, 0]
  for (const { place, id, sha256, size } of folderFiles) {
    try {
      const portions = await Array.fromAsync(from.read(place, { sha256, size }))
      await folderDisk.create(join(to, place), Buffer.concat(portions))
      files++
      bytes += size
    } catch (error) {
      if (!hasCode(error, "file_unreadable")) throw error
      if (isStillThere(database, id)) unreadable++ // otherwise it was erased since the copy was made
    }
  }
  await folderDisk.sync(to)
  return { files, bytes, unreadable }
}

function isStillThere(database: string, id: string): boolean {
  using db = new DatabaseSync(database, { readOnly: true, timeout: 5000 })
  return db.prepare("SELECT 1 FROM message_file WHERE id = ?").get(id) !== undefined
}
