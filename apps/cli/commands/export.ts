import { createWriteStream } from "node:fs"
import { rename, rm, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import type { ConnectionId } from "../../../core/protocol/ids.ts"
import { exportLines, type ExportOmissions } from "../../../core/store/transfer/export-lines.ts"
import { Uploads } from "../../../core/store/transfer/uploads.ts"
import type { Store } from "../../../core/store/store.ts"
import { uploadPath } from "../../../packs/analyst/sqlite/upload-path.ts"
import { exportText } from "../../strings/transfer.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { usageText } from "../../strings/usage.ts"
import { createLog } from "../process/log.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"

export const help = exportText.help

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, { user: { type: "string" } })
  const [name, extra] = positionals
  if (name === undefined) throw new UsageError(exportText.missingFile)
  if (extra !== undefined) throw new UsageError(usageText.unexpectedArgument(extra))
  const config = readConfig()
  warn(config)
  reportData(config)
  const file = resolve(name)
  if (await isThere(file)) throw new CommandError(exportText.exists(file))
  await refuseMissingFolder(dirname(file))
  const { filesFolder } = config
  const log = createLog(config.secrets, undefined, config.log)
  await using store = await openConfiguredStore(config, { log, filesFolder, forExport: true })
  const left: ExportOmissions = { working: 0, unreadable: 0 }
  const user = await findUser(store, values.user)
  const uploads = uploadsOf(store, config)
  const readUpload: Uploads["read"] = (user, connection) => uploads.read(user, connection)
  const lines = exportLines({ ...store, readUpload }, { user, left })
  const partial = `${file}.partial`
  let bytes = 0
  let count = 0
  async function* encoded() {
    for await (const line of lines) {
      const text = Buffer.from(`${line}\n`)
      bytes += text.length
      count++
      yield text
    }
  }
  try {
    await rm(partial, { force: true })
    // Renamed when it is complete.
    await pipeline(Readable.from(encoded()), createWriteStream(partial, { mode: 0o600, flags: "wx", flush: true }))
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : new CommandError(exportText.failed(file, failureReason(error)), { cause: error })
  }
  process.stdout.write(exportText.done(file, bytes, count))
  if (left.working > 0) process.stderr.write(exportText.working(left.working))
  if (left.unreadable > 0) process.stderr.write(exportText.unreadable(left.unreadable))
  return 0
}

/** The databases created from uploads. */
export const uploadsOf = (store: Store, { sqliteRoot: root }: Config): Uploads =>
  new Uploads(store.engine, {
    root,
    pathOf: (connection) => uploadPath(connection as ConnectionId),
    now: () => store.clock.now(),
  })

async function findUser({ engine }: Store, name: string | undefined) {
  if (name === undefined) return undefined
  type Row = { id: Parameters<Uploads["read"]>[0] }
  const [person] = await engine.query<Row>("SELECT id FROM person WHERE id = ? OR name = ?", [name, name])
  if (!person) throw new CommandError(exportText.noUser(name))
  return person.id
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function refuseMissingFolder(folder: string): Promise<void> {
  if (!(await isThere(folder))) throw new CommandError(exportText.noFolder(folder))
}
