import { once } from "node:events"
import { expect, test } from "vitest"
import { RecordingLog, programOf } from "../../../test/support/processes/processes.ts"
import { startThread } from "./thread.ts"

const script = programOf(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", (how) => {
    process.stderr.write("the last words\\n")
    if (how === "throw") throw new Error("an error of its own")
    if (how === "exit") process.exit(7)
  })`)

test.each([
  ["exit", { code: 7 }],
  ["throw", { code: 1, error: expect.objectContaining({ message: "an error of its own" }) }],
])("the exit of a thread (%s) and its output are logged", async (how, ending) => {
  const log = new RecordingLog()
  const thread = startThread(script, { log })
  thread.postMessage(how)
  await new Promise((resolve) => thread.once("exit", resolve))
  const stderr = "the last words"
  expect(log.lines).toMatchObject([{ event: "thread_failed", fields: { thread: "test-program", stderr, ...ending } }])
})

test("a thread that is ended on purpose is not logged", async () => {
  const log = new RecordingLog()
  const thread = startThread(script, { log })
  await once(thread, "online")
  await thread.terminate()
  expect(log.lines).toEqual([])
})
