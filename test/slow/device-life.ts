import { DatabaseSync } from "node:sqlite"
import { writeFileSync } from "node:fs"
import { openDevice } from "../../src/device/index.ts"

// One life of a device: `device-life.ts SERVER DB [before|after COMMIT]`. It is killed by itself at the given commit of a
// call, with what a power switch leaves: no handler, no answer, no closing.
const [server = "", db = "", when, commit] = process.argv.slice(2)
openDevice({
  server,
  token: "t",
  db,
  handlers: {
    touch: ({ file }) => {
      writeFileSync(String(file), "x", { flag: "a" })
      return { text: "touched" }
    },
  },
})
let commits = 0
const exec = DatabaseSync.prototype.exec
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  const last = sql === "COMMIT" && ++commits === Number(commit)
  if (last && when === "before") process.kill(process.pid, "SIGKILL")
  exec.call(this, sql)
  if (last) process.kill(process.pid, "SIGKILL")
}
