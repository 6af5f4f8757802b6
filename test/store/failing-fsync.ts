/** Loaded before `pawl`: after SIGUSR2 every fsync of the log fails, as on a broken disk. */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

// Installed from the start, because a module that imports it keeps its first value.
const { fdatasync } = fs
let hasDied = false
const dying = (fd: number, callback: (error: Error | null) => void) => {
  if (!hasDied) return fdatasync(fd, callback)
  setImmediate(() => callback(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" })))
}
fs.fdatasync = dying as typeof fs.fdatasync
syncBuiltinESMExports()

process.on("SIGUSR2", () => {
  hasDied = true
  process.stdout.write("the disk fails now\n")
})
