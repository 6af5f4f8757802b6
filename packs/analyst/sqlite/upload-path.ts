import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import type { ConnectionId } from "../../../core/pack.ts"
import { isId } from "../../../core/program.ts"

/** The folder of uploads in a person's folder. */
const FOLDER = "csv"

/** The limit for all databases of a user's uploads, in bytes. */
export const MAX_UPLOADED_BYTES: number = 512 * 1024 * 1024

/** The path of an upload's database in the user's folder, as in its connection. */
export const uploadPath = (id: ConnectionId): string => `${FOLDER}/${id}.db`

/** The connection of the upload at this path; undefined for any other file. */
export function uploadAt(path: string): ConnectionId | undefined {
  const [, id = ""] = /^csv\/(\w+)\.db$/.exec(path) ?? []
  return isId("conn", id) ? (id as ConnectionId) : undefined
}

/** The size of all databases of a user's uploads, in bytes. */
export async function uploadedBytes(own: string): Promise<number> {
  const folder = join(own, FOLDER)
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(names.map((name) => sizeOf(join(folder, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** 0 if the file does not exist. */
export const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )
