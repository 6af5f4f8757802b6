/**
 * Loaded into a server by `--import`: counts the longest that its event loop has worked without a turn for others, and says so when it
 * is asked by a signal. In milliseconds of the processor, which do not pass while a busy machine does other things.
 */
import { isMainThread } from "node:worker_threads"
import { countProcessor } from "../worked.ts"

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
    process.stderr.write(`longest turn ${++asked}: ${Math.round(longest)} ms\n`)
    longest = 0
  })
}
