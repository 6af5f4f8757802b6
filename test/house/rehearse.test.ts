import { existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, onTestFinished, test } from "vitest"
import { rehearse } from "../../scripts/rehearse.ts"
import { isGone } from "../support/processes/processes.ts"

/** An engine whose answers are ready. */
const ENGINE = `
export const defineTool = (tool) => tool
export const openPawl = async () => ({
  ask: async () => ({ status: "waiting", conversationId: "conv_1", proposals: [] }),
  answer: async () => ({ status: "answered" }),
  [Symbol.asyncDispose]: async () => {},
})
`
const SCRIPTS = `
const none = () => {}
export { none as calls, none as says, none as scripted }
`

/** Programs like ours: `asked` is what the command does that asks the server, `told` what this does that is told to end. */
function programs({ asked = "", told = "process.exit(0)" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "programs-"))
  const server = join(folder, "server.json")
  writeFileSync(join(folder, "index.js"), ENGINE)
  writeFileSync(join(folder, "testing.js"), SCRIPTS)
  const command = `
import { writeFileSync } from "node:fs"
const acts = {
  token() { console.log("a token") },
  exec() { ${asked} },
  serve() {
    process.on("SIGTERM", () => { ${told} })
    setInterval(() => {}, 1000)
    const { pid, env } = process
    writeFileSync(${JSON.stringify(server)}, JSON.stringify({ pid, home: env.HOME }))
    console.log("listening on http://127.0.0.1:1")
  },
}
acts[process.argv[2]]()
`
  writeFileSync(join(folder, "pawl.js"), command)
  const left = () => {
    const { pid, home } = JSON.parse(readFileSync(server, "utf8")) as { pid: number; home: string }
    onTestFinished(() => void (isGone(pid) || process.kill(pid, "SIGKILL")))
    return { server: !isGone(pid), folder: existsSync(home) }
  }
  return { folder, left }
}

test("what was called is told by the names of files, also where their folder is reached by a link", async () => {
  const { folder, left } = programs()
  const link = `${folder}-link`
  symlinkSync(folder, link)
  const called = await rehearse(link)
  expect([...called.keys()].toSorted()).toEqual(["index.js", "pawl.js", "testing.js"])
  expect(called.get("index.js")).toContain(ENGINE.indexOf("(tool)"))
  expect(left()).toEqual({ server: false, folder: false })
})

test("of a rehearsal that fails nothing is left", async () => {
  const { folder, left } = programs({ asked: "process.exit(1)" })
  await expect(rehearse(folder)).rejects.toThrow("exec list my tasks")
  expect(left()).toEqual({ server: false, folder: false })
})

test("a server that does not end when it is told to is ended, and was no rehearsal", async () => {
  const { folder, left } = programs({ told: "" })
  await expect(rehearse(folder, 5000)).rejects.toThrow("ended with SIGKILL")
  expect(left()).toEqual({ server: false, folder: false })
})
