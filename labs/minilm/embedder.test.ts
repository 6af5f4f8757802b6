import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { RecordingLog } from "../../test/support/processes/processes.ts"
import { toUnit } from "../../core/shared/vectors/unit.ts"
import { MiniLmEmbedder } from "./embedder.ts"
import { textWindows } from "../../core/shared/vectors/text-windows.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"

const signal = new AbortController().signal

/**
 * A thread that answers each text with a vector whose direction depends on its length, and that runs the given code.
 */
const threadOf = (then: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, threadId } from "node:worker_threads"
      import { existsSync, readdirSync, writeFileSync } from "node:fs"
      parentPort.on("message", (texts) => {
        const vectors = new Float32Array(384 * texts.length)
        for (const [i, text] of texts.entries()) {
          const pointTo = (place) => (vectors[384 * i + place] = 1)
          ${then}
        }
        parentPort.postMessage(vectors)
      })`)}`,
  )
const obedient = threadOf(`if (text === "die") process.exit(7); else pointTo(text.length)`)

const real = new MiniLmEmbedder()
afterAll(() => real.close())

test("texts with similar meanings have similar vectors, whatever their words", async () => {
  const [deploy, ship, cake] = await real.embed(
    ["Deploy the release to the servers", "Shipping the new version to production", "A recipe for carrot cake"],
    signal,
  )
  expect(deploy).toHaveLength(384)
  expect(dot(deploy!, deploy!)).toBeCloseTo(1, 4)
  expect(dot(deploy!, ship!)).toBeGreaterThan(dot(deploy!, cake!) + 0.3)
})

test("the parts of a long text have equal weights", async () => {
  const text = `${"The boundary layer separates from the plate. ".repeat(20)} ${"x ".repeat(190)}`
  const windows = textWindows(text, { tokens: 200, most: 6 })
  const [whole, ...parts] = await real.embed([text, ...windows], signal)
  expect(parts.length).toBeGreaterThan(1)
  const mean = toUnit(parts[0]!.map((_, i) => parts.reduce((sum, part) => sum + part[i]!, 0)))
  expect(dot(whole!, mean)).toBeGreaterThan(0.99999)
})

test("any text is accepted: NUL, emoji, unpaired surrogates, an empty one, a megabyte", async () => {
  const texts = ["a\0b", "😀😀", "\ud800", "", "z".repeat(1_000_000)]
  const vectors = await real.embed(texts, signal)
  expect(vectors.every((vector) => vector.length === 384 && vector.every(Number.isFinite))).toBe(true)
  expect([...vectors[3]!].every((number) => number === 0)).toBe(true)
})

test("a failed thread is restarted, and its work is repeated once", async () => {
  const mark = join(mkdtempSync(join(tmpdir(), "embed-")), "died")
  const once = threadOf(`
    if (text === "die" && !existsSync("${mark}")) process.exit(writeFileSync("${mark}", ""))
    pointTo(text.length)`)
  await using embedder = closing(new MiniLmEmbedder({ thread: once }))
  expect(await placesOf(embedder, ["one", "die", "three"])).toEqual([3, 3, 5])
})

test("a text that always ends the thread is refused with the reason, and others are not", async () => {
  const log = new RecordingLog()
  await using embedder = closing(new MiniLmEmbedder({ thread: obedient, log }))
  const [bad, good] = await Promise.allSettled([placesOf(embedder, ["die"]), placesOf(embedder, ["fine"])])
  expect(bad).toMatchObject({ status: "rejected", reason: { code: "provider_error" } })
  expect(good).toEqual({ status: "fulfilled", value: [4] })
  const died = { event: "thread_failed", fields: expect.objectContaining({ code: 7 }) }
  expect(log.lines).toEqual([died, died])
})

test("if a thread cannot start, all waiting callers get the reason", async () => {
  const broken = new URL(`data:text/javascript,throw new Error("the weights are not those")`)
  await using embedder = closing(new MiniLmEmbedder({ thread: broken }))
  await expect(placesOf(embedder, ["a"])).rejects.toThrow("The local embedder: the weights are not those")
})

test("callers take turns: a question does not wait for all the notes before it", async () => {
  await using embedder = closing(new MiniLmEmbedder({ thread: obedient }))
  const ended: string[] = []
  const notes = placesOf(embedder, Array<string>(50).fill("note")).then(() => ended.push("notes"))
  const question = placesOf(embedder, ["question"]).then(() => ended.push("question"))
  await Promise.all([notes, question])
  expect(ended).toEqual(["question", "notes"])
})

test("aborted calls are not embedded, and too many calls are refused", async () => {
  await using embedder = closing(new MiniLmEmbedder({ thread: obedient, maxWaiting: 10 }))
  const controller = new AbortController()
  const first = embedder.embed(Array<string>(9).fill("x"), controller.signal)
  await expect(embedder.embed(["y", "z"], signal)).rejects.toMatchObject({ code: "overloaded" })
  controller.abort(new Error("never mind"))
  await expect(first).rejects.toThrow("never mind")
  expect(await placesOf(embedder, Array<string>(10).fill("y"))).toHaveLength(10)
})

test("more threads are started if much waits, up to the spare cores, and each text gets its own vector", async () => {
  const seen = join(mkdtempSync(join(tmpdir(), "embed-")), "thread-")
  // The first to come waits for the second: with one thread it would wait for ever.
  const paired = threadOf(`
    writeFileSync("${seen}" + threadId, "")
    while (readdirSync("${dirname(seen)}").length < 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    pointTo(text.length)`)
  await using embedder = closing(new MiniLmEmbedder({ thread: paired, threads: 2 }))
  const texts = Array.from({ length: 40 }, (_, i) => "x".repeat(i + 1))
  expect(await placesOf(embedder, texts)).toEqual(texts.map(({ length }) => length))
  expect(readdirSync(dirname(seen))).toHaveLength(2)
  await using alone = closing(new MiniLmEmbedder({ thread: threadOf(`pointTo(threadId)`), threads: 1 }))
  expect(new Set(await placesOf(alone, texts)).size).toBe(1)
})

test("an idle thread ends, and is started again for the next text", async () => {
  const clock = new TurnedClock()
  const numbered = threadOf("pointTo(threadId)")
  await using embedder = closing(new MiniLmEmbedder({ thread: numbered, clock, idleMs: 1000 }))
  const threadNow = () => placesOf(embedder, ["x"])
  const first = await threadNow()
  expect(await threadNow()).toEqual(first)
  clock.turn(1001)
  expect(await threadNow()).not.toEqual(first)
})

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, number, i) => sum + number * b[i]!, 0)

const placesOf = async (embedder: MiniLmEmbedder, texts: string[]) =>
  (await embedder.embed(texts, signal)).map((vector) => vector.indexOf(1))

const closing = (embedder: MiniLmEmbedder) => Object.assign(embedder, { [Symbol.asyncDispose]: () => embedder.close() })
