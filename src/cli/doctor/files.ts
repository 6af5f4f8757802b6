import { stat } from "node:fs/promises"
import type { Store } from "../../store/store.ts"
import type { Finding } from "./finding.ts"

/** Where the bytes of large files lie, and whether they can be had here. A folder that is the wrong one has kept the store shut. */
export async function* examineFiles({ placedFiles, filesFolder }: Store): AsyncGenerator<Finding> {
  const { files, bytes, toRemove } = await placedFiles.count()
  const many = `${files} files (${(bytes / 1_000_000).toFixed(1)} MB)`
  if (filesFolder === undefined) {
    if (files + toRemove > 0)
      yield ["wrong", `files: ${many} lie in a folder, and cannot be read here: set PAWL_FILES_FOLDER to it`]
    return
  }
  yield ["ok", `files: those larger than 1 MB in ${filesFolder}, ${many}`]
  const lost = await placedFiles.countLost()
  if (lost > 0) yield ["wrong", `files: ${lost} of them are not in ${filesFolder} any more`]
  if (toRemove > 0)
    yield [
      "note",
      `files: of ${toRemove} that were erased the bytes are still in ${filesFolder}; a server removes them`,
    ]
  if (process.platform !== "win32" && (await stat(filesFolder)).mode & 0o077)
    yield ["note", `${filesFolder} can be read by other users of this machine: chmod go= ${filesFolder}`]
}
