/** Runs a program that starts another one, until a test kills it: `node command-life.ts <folder>`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { runProcess } from "../../../packs/files/sandbox/run-process.ts"

const cwd = process.argv[2] ?? ""
const ended = runProcess({
  program: "/bin/sh",
  arguments: ["-c", "sleep 300 & echo $$ $! > pids; wait"],
  cwd,
  environment: { PATH: process.env.PATH ?? "" },
  seconds: 300,
  signal: new AbortController().signal,
})
// A kill before this line hits the moment when the program is not known yet.
writeFileSync(join(cwd, "known"), "")
await ended
