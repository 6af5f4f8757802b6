import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

/** The folder that Linux keeps in memory. A container often has 64 MB of it. */
const IN_MEMORY = "/dev/shm"
const GIGABYTE = 1024 ** 3

/**
 * The folder for the tests' databases: in memory if there is enough, because they are deleted with the tests and
 * every commit of SQLite waits for the disk. Other files are not in it: commands in a sandbox have another `/dev`.
 */
export function quickFolder(): string {
  if (process.env.PAWL_TEST_LONG === "1") return tmpdir() // rows by the gigabyte
  // In a container this respects its memory limit.
  return process.availableMemory() > 8 * GIGABYTE && roomIn(IN_MEMORY) > 4 * GIGABYTE ? IN_MEMORY : tmpdir()
}

function roomIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0 // there is none
  }
}
