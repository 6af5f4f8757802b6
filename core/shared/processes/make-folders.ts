import { mkdirSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"

/**
 * Creates a folder and its parents if they are missing. Throws the system's error if that is impossible. Use it instead
 * of `mkdir` with `recursive`, which retries forever where a file system refuses new folders with `ENOENT`, as `/proc` does.
 */
export function makeFolders(path: string, mode = 0o700): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolders(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!isFolder(folder)) throw error // otherwise another process has created it
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
