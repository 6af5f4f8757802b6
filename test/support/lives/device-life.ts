import { writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { openDevice } from "../../../client/device/index.ts"
import "./keep-compiled.ts"

// A device process: `device-life.ts SERVER DB [before|after COMMIT]`, with DEVICE_TOKEN. At that commit of a call it
// sends itself DEVICE_SIGNAL: SIGKILL leaves the state of a power cut, SIGSTOP holds it there until SIGCONT.
const [server = "", db = "", when, commit] = process.argv.slice(2)
const { DEVICE_TOKEN: token = "t", DEVICE_SIGNAL: signal = "SIGKILL" } = process.env
openDevice({
  server,
  token,
  db,
  onState: ({ state }) => process.stdout.write(`${state}\n`),
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
  const hit = sql === "COMMIT" && ++commits === Number(commit)
  if (hit && when === "before") strike()
  exec.call(this, sql)
  if (hit && when === "after") strike()
}

function strike(): void {
  if (signal === "SIGSTOP") writeFileSync(`${db}.stopped`, "")
  process.kill(process.pid, signal)
}
