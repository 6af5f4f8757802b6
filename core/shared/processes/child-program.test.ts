import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { isGone, RecordingLog, programOf } from "../../../test/support/processes/processes.ts"
import { ChildDied } from "./child.ts"
import { ChildProgram } from "./child-program.ts"
import { dataSize, residentSize } from "./child.ts"

/** Reserves what a runtime may reserve on another machine, and allocates so many megabytes on request. */
const program = (reserved: number) =>
  programOf(`
  globalThis.reserved = new ArrayBuffer(${reserved} * 2 ** 20)
  const taken = []
  process.on("message", (megabytes) => {
    try {
      taken.push(Buffer.alloc(megabytes * 2 ** 20, 1))
      process.send("taken")
    } catch (error) {
      process.send(error.message)
    }
  })
  process.send("ready")`)

const deadly = programOf(`
  process.on("message", (how) => {
    process.stderr.write("x".repeat(10_000) + "the last words\\n")
    if (how === "throw") throw new Error("an error of its own")
    process.kill(process.pid, how)
  })
  process.send("ready")`)

/** On other systems memory is polled, which the next test covers. */
const countsMemory = dataSize(process.pid) !== undefined

test.runIf(countsMemory).each([0, 1500])(
  "with %i MB that the runtime reserves, its work has the same memory, and no more",
  async (reserved) => {
    const log = new RecordingLog()
    const children = new ChildProgram({ script: program(reserved), megabytes: 300, log })
    const child = await children.start()
    child.send(100 as never)
    expect(await child.hear()).toBe("taken")
    child.send(400 as never)
    expect(await child.hear()).not.toBe("taken")
    await children.close()
    expect(log.lines).toEqual([])
  },
)

test("if the system does not limit memory, a process that uses too much is ended", async () => {
  const log = new RecordingLog()
  const sizes = { data: () => undefined, resident: residentSize }
  const children = new ChildProgram({ script: program(0), megabytes: 300, log, sizes })
  const child = await children.start()
  child.send(100 as never)
  expect(await child.hear()).toBe("taken")
  child.send(600 as never)
  const ending = await child.ended
  expect(ending).toMatchObject({ signal: "SIGKILL", tooLarge: true })
  expect(log.lines).toMatchObject([{ event: "child_failed", fields: { problem: "its work took too much memory" } }])
})

test.each([
  ["SIGKILL", { code: null, signal: "SIGKILL" }],
  ["SIGTERM", { code: null, signal: "SIGTERM" }],
  ["throw", { code: 1, signal: null }],
])("if a process dies of %s, its callers get an error, and its exit and last output are logged", async (how, ended) => {
  const log = new RecordingLog()
  const children = new ChildProgram({ script: deadly, megabytes: 300, log })
  const child = await children.start()
  child.send(how)
  const error = await child.hear().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ChildDied)
  const stderr = expect.stringMatching(/^(?=.*the last words).{1,4096}$/s)
  expect(log.lines).toMatchObject([
    { event: "child_failed", fields: { program: "test-program", pid: child.process.pid, stderr, ...ended } },
  ])
  if (how === "throw") expect(String(log.lines[0]?.fields.stderr)).toContain("an error of its own")
})

test("sending to an ended process throws immediately", async () => {
  const log = new RecordingLog()
  const silent = programOf(`process.send("ready", () => process.disconnect()); setInterval(() => {}, 1000)`)
  const child = await new ChildProgram({ script: silent, megabytes: 300, log }).start()
  await expect.poll(() => child.process.connected).toBe(false)
  child.send("anybody there?")
  await expect(child.hear()).rejects.toBeInstanceOf(ChildDied)
  expect(log.lines).toMatchObject([
    { event: "child_failed", fields: { problem: expect.stringMatching(/closed|EPIPE/i) } },
  ])
})

test("a process that never becomes ready is an error, and its output is logged", async () => {
  const log = new RecordingLog()
  const broken = new ChildProgram({ script: programOf(`throw new Error("no such thing")`), megabytes: 300, log })
  await expect(broken.start()).rejects.toBeInstanceOf(ChildDied)
  expect(log.lines[0]).toMatchObject({ event: "child_failed", fields: { code: 1 } })
  expect(log.lines[0]?.fields.stderr).toContain("no such thing")
})

test("a process that grows after it was measured is measured again", async () => {
  // The second process finds the file, and is larger than the first. A timer keeps it alive, because it has no
  // listeners.
  const grown = programOf(`
    import { existsSync, writeFileSync } from "node:fs"
    const mark = new URL("measured", import.meta.url)
    globalThis.reserved = new ArrayBuffer(existsSync(mark) ? 2 ** 30 : 0)
    writeFileSync(mark, "")
    setInterval(() => {}, 1000)
    process.send("ready")`)
  const children = new ChildProgram({ script: grown, megabytes: 300 })
  const marked = [fileURLToPath(new URL("measured", grown))]
  const child = await children.start({ files: { reads: marked, writes: marked } })
  expect(child.alive).toBe(true)
  await children.close()
})

test("closing ends all processes without logging, including those that are still starting", async () => {
  const log = new RecordingLog()
  const children = new ChildProgram({ script: program(0), megabytes: 300, log })
  const child = await children.start()
  const starting = children.start().catch((error: unknown) => error)
  await children.close()
  expect(await starting).toBeInstanceOf(ChildDied)
  expect(isGone(child.process.pid ?? 0)).toBe(true)
  expect(log.lines).toEqual([])
})
