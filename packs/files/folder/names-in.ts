import { type Dirent, opendirSync, readdirSync } from "node:fs"

/** The most names of a directory that are read. Their order is the system's. */
export const MAX_NAMES = 20_000
/** The size of a small directory in bytes: an entry takes a few dozen. */
const SMALL_DIRECTORY = 256 * 1024

/** Lists a directory. `size`: the directory's own size. If it is small, all names are read at once. */
export function namesIn(
  at: string,
  size: number,
): { readonly names: readonly Dirent[]; readonly isTruncated: boolean } {
  const encoding = "latin1" as BufferEncoding
  if (size > 0 && size <= SMALL_DIRECTORY) {
    const names = readdirSync(at, { encoding, withFileTypes: true })
    return { names: names.slice(0, MAX_NAMES), isTruncated: names.length > MAX_NAMES }
  }
  const directory = opendirSync(at, { encoding })
  try {
    const names: Dirent[] = []
    let entry = directory.readSync()
    for (; entry && names.length < MAX_NAMES; entry = directory.readSync()) names.push(entry)
    return { names, isTruncated: entry !== null }
  } finally {
    directory.closeSync()
  }
}
