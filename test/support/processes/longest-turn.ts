/**
 * Loaded into a process by `--import`: measures the longest turn of its event loop, and reports it on a signal. In
 * milliseconds of processor time, which do not pass while a busy machine does other work.
 */
import { writeFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import { countProcessor } from "../worked.ts"

/** The file for the report, if the process's output is for a terminal. */
const { LONGEST_TURN_FILE: file } = process.env

if (isMainThread) {
  let longest = 0
  let worked = countProcessor()
  const look = () => {
    longest = Math.max(longest, worked())
    worked = countProcessor()
  }
  setInterval(look, 1).unref()
  let asked = 0
  process.on("SIGUSR2", () => {
    look()
    const told = `longest turn ${++asked}: ${Math.round(longest)} ms\n`
    if (file) writeFileSync(file, told)
    else process.stderr.write(told)
    longest = 0
  })
}
