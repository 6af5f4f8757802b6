import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

/** Where Linux keeps files in memory. A container often has 64 MB of it. */
const IN_MEMORY = "/dev/shm"
const GIGABYTE = 1024 ** 3

/**
 * Where the databases of the tests lie: in memory, where there is enough of it, since they die with the tests and every
 * commit of SQLite waits for the disk. Only they do: commands in a sandbox have another `/dev`, and other files lie elsewhere.
 */
export function quickFolder(): string {
  if (process.env.PAWL_TEST_LONG === "1") return tmpdir() // rows by the gigabyte
  // Of what a container may have, where this is one.
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
