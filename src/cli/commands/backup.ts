import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { resolve } from "node:path"
import { backUp } from "../../store/engine/sqlite/backup.ts"
import { type BackedUp, backUpFolder } from "../../store/files/back-up-folder.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl backup FILE

Copies the database to FILE while the server goes on: everything as it was at one moment, checked, readable by nobody
else. FILE must not exist yet; it appears when the copy is whole.

Files of messages that lie in PAWL_FILES_FOLDER are copied to the folder FILE.files, each checked; where there are none there
is no such folder. To restore them, name that folder, or a copy of it, as PAWL_FILES_FOLDER.

To restore, stop the server, put the copy in the place of pawl.db in PAWL_DATA, remove pawl.db-wal and pawl.db-shm beside
it, and start again. Runs that were at work when the copy was made go on then.

The copy holds conversations, tasks and tokens (as hashes). Keys of providers and databases are in it only as
cipher text: the key that opens them (master.key in PAWL_DATA, or MASTER_ENCRYPTION_KEY) is not. Keep that one elsewhere.

With DATABASE_URL the database is PostgreSQL, which brings its own way: pg_dump "$DATABASE_URL" > FILE
Copy PAWL_FILES_FOLDER after it, not before: then every file is there that the copy of the database names.
`

export async function run(words: readonly string[]): Promise<number> {
  const { positionals } = readFlags("backup", words, {})
  const [name] = positionals
  if (name === undefined || positionals.length > 1) throw new CommandError(`Say where to: pawl backup FILE`)
  const config = readConfig()
  warn(config)
  if (!config.databaseUrl.startsWith("file:")) {
    throw new CommandError(
      `The database is PostgreSQL (DATABASE_URL): use pg_dump "$DATABASE_URL" > ${name}${config.filesFolder === undefined ? "" : `, and then copy ${config.filesFolder} (PAWL_FILES_FOLDER)`}`,
    )
  }
  const from = config.databaseUrl.slice("file:".length)
  if (!existsSync(from)) throw new CommandError(`There is no database at ${from}; PAWL_DATA says where it is.`)
  const to = resolve(name)
  const progress = (bytes: number, of: number) =>
    void process.stderr.write(`${inMegabytes(bytes)} of ${inMegabytes(of)}\n`)
  const folder = `${to}.files`
  let copied: BackedUp | undefined
  const beside = async (copy: string) => {
    copied = await backUpFolder({ copy, database: from, folder: config.filesFolder, to: folder })
  }
  try {
    const bytes = await backUp({ from, to, progress, beside })
    process.stdout.write(`${to} (${inMegabytes(bytes)})\n`)
    tellFiles(folder, copied)
    return 0
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Made, and then without what it belongs to.
    if (copied && copied.files + copied.unreadable > 0) await rm(folder, { recursive: true, force: true })
    if (code === "EEXIST")
      throw new CommandError(`${existsSync(to) ? to : folder} exists already; a backup overwrites nothing.`)
    throw new CommandError(`The backup was not made: ${message}.`, { cause: error })
  }
}

function tellFiles(folder: string, copied: BackedUp | undefined): void {
  if (!copied || copied.files + copied.unreadable === 0) return
  process.stdout.write(`${folder} (${copied.files} files, ${inMegabytes(copied.bytes)})\n`)
  if (copied.unreadable > 0)
    process.stderr.write(`${copied.unreadable} files are not in it: they are lost or damaged in PAWL_FILES_FOLDER.\n`)
}

const inMegabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`
