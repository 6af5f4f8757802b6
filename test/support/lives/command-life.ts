/** Runs a program that starts another one, and is killed meanwhile: `node command-life.ts <folder>`. */
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
// Whoever ends us before this line meets the moment in which nobody knows of the program yet.
writeFileSync(join(cwd, "known"), "")
await ended
