/** Loaded before `pawl`: after SIGUSR2 every fsync of the log fails, as on a disk that has died. */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

process.on("SIGUSR2", () => {
  const failing = (_fd: number, callback: (error: Error) => void) => {
    setImmediate(() => callback(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" })))
  }
  fs.fdatasync = failing as typeof fs.fdatasync
  syncBuiltinESMExports()
  process.stdout.write("the disk fails now\n")
})
