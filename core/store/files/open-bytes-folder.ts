import { makeFolders } from "../../shared/processes/make-folders.ts"
import { chmod, readdir, realpath, stat } from "node:fs/promises"
import { type AppError, codeOf, failure } from "../../protocol/errors.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { BytesFolder } from "./bytes-folder.ts"
import type { FolderDisk } from "./folder-disk.ts"
import { type FolderMark, MARK_FILE, newMark, readMark, markLine, writeMark } from "./folder-mark.ts"

const OTHER_USERS = 0o077
/** The files of an unused disk. */
const IGNORED_NAMES = /^(?:\.|lost\+found$)/

/**
 * Opens the folder for large files. Throws `files_folder_refused` if it is missing, belongs to another database, or is
 * not the one that the other nodes use.
 */
export async function openBytesFolder(engine: Engine, path: string, disk?: FolderDisk): Promise<BytesFolder> {
  const refused = (problem: string) => failure("files_folder_refused", { path, problem })
  try {
    const known = await marksOf(engine)
    const real = await findFolder(path, known.folder !== null, refused)
    if (!(await readMark(real))) {
      if (known.folder !== null) throw refused(emptied(real, { ...known, folder: known.folder }))
      await claimFolder(real, { database: known.database, folder: newMark() }, refused)
    }
    const mark = await readMark(real)
    if (mark?.database !== known.database) throw refused(ANOTHER_DATABASE)
    // The first folder of any node counts. The mark was written before, so a process may fail in between.
    await change(engine, {
      sql: "UPDATE files_folder SET folder_mark = ? WHERE id = 'files' AND folder_mark IS NULL",
      values: [mark.folder],
    })
    if ((await marksOf(engine)).folder !== mark.folder) throw refused(ANOTHER_FOLDER)
    return new BytesFolder(real, mark, disk)
  } catch (error) {
    if (codeOf(error) !== undefined) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw refused(`it cannot be used (${code ?? message})`)
  }
}

async function marksOf(engine: Engine): Promise<{ database: string; folder: string | null }> {
  const sql = "SELECT database_mark AS database, folder_mark AS folder FROM files_folder WHERE id = 'files'"
  const read = () => engine.query<{ database: string; folder: string | null }>(sql, [])
  const [row] = await read()
  if (row) return row
  await change(engine, {
    sql: "INSERT INTO files_folder (id, database_mark) VALUES ('files', ?) ON CONFLICT (id) DO NOTHING",
    values: [newMark()],
  })
  return (await read())[0] as { database: string; folder: string | null }
}

/** Created if no folder was ever used; a lost or unmounted one is not created again. */
async function findFolder(path: string, isKnown: boolean, refused: (problem: string) => AppError): Promise<string> {
  if (!isKnown) makeFolders(path)
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error
    throw refused("it is missing, but contains files of this database. Check that its disk is mounted")
  })
  const found = await stat(real)
  if (!found.isDirectory()) throw refused("it is not a folder")
  return real
}

/** The folder contains nothing else: it is closed to other users, and unknown files are deleted. */
async function claimFolder(real: string, mark: FolderMark, refused: (problem: string) => AppError): Promise<void> {
  const otherNames = (await readdir(real)).filter((name) => !IGNORED_NAMES.test(name) && name !== MARK_FILE)
  if (otherNames.length > 0) throw refused("it is not empty. Choose an empty folder for these files only")
  // another owner's folder: `pawl doctor` reports it
  if ((await stat(real)).mode & OTHER_USERS) await chmod(real, 0o700).catch(() => {})
  await writeMark(real, mark)
}

const ANOTHER_DATABASE =
  "it belongs to another database, which would delete the files of this one. Choose another folder"
const ANOTHER_FOLDER =
  "it is not the folder with the files of this database: all nodes of a database must use the same folder, on a disk " +
  "that they share. Mount it on this machine, or unset PAWL_FILES_FOLDER on this node, which then cannot read these files"

const emptied = (real: string, mark: FolderMark) =>
  `it does not contain the files of this database (${MARK_FILE} is missing). Check that its disk is mounted, or whether it was moved. ` +
  `If those files are lost, start over with \`echo ${markLine(mark)} > ${real}/${MARK_FILE}\``

async function change(engine: Engine, statement: Statement): Promise<void> {
  await engine.change({ type: "statements", statements: [statement] })
}
