import { type Dirent, opendirSync, readdirSync } from "node:fs"

/** Limit for the names of a directory; the order of the rest is the system's. */
export const MAX_NAMES = 20_000
/** Bytes of a directory itself, which is a few dozen a name. */
const SMALL_DIRECTORY = 256 * 1024

/** `size`: the directory's own, by which it is known that it does not hold millions: then all names are read at once. */
export function namesIn(at: string, size: number): { readonly names: readonly Dirent[]; readonly isCut: boolean } {
  const encoding = "latin1" as BufferEncoding
  if (size > 0 && size <= SMALL_DIRECTORY) {
    const names = readdirSync(at, { encoding, withFileTypes: true })
    return { names: names.slice(0, MAX_NAMES), isCut: names.length > MAX_NAMES }
  }
  const directory = opendirSync(at, { encoding })
  try {
    const names: Dirent[] = []
    let entry = directory.readSync()
    for (; entry && names.length < MAX_NAMES; entry = directory.readSync()) names.push(entry)
    return { names, isCut: entry !== null }
  } finally {
    directory.closeSync()
  }
}
