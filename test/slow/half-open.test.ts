import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { Clock } from "../../src/agent/clock.ts"
import type { ConversationId } from "../../src/protocol/ids.ts"
import { always, calls, says, scripted, type ScriptedReply } from "../../src/testing.ts"
import { dataFolder, PawlProcess } from "../child.ts"
import { databases, type TestDatabase } from "../databases.ts"
import { openServer } from "../socket.ts"
import { isOver, readFrames, type SeenFrame, transcriptOf } from "../stream.ts"
import { TurnedClock } from "../world.ts"

// A peer whose process stands still: its connection is there, and nobody answers on it (DEVICE-04, promise 9).
vi.setConfig({ testTimeout: 120_000 })

const MILK = { title: "Buy milk" }
const [sqlite] = databases as readonly [TestDatabase]
const scriptOf = (name: string) => join(import.meta.dirname, name)

async function open(clock: Clock, ...script: readonly ScriptedReply[]) {
  const server = await openServer({ database: sqlite, model: scripted(...script), clock })
  const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
  const db = join(dataFolder(), "device.db")
  const openStreams = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^pawl_open_streams (\d+)/m.exec(text)?.[1] ?? 0)
  }
  const start = (words: string[], environment: Record<string, string>, script: string) => {
    const child = new PawlProcess(words, environment, { script: scriptOf(script) })
    onTestFinished(() => child[Symbol.asyncDispose]())
    return child
  }
  return {
    server,
    ada,
    openStreams,
    /** A reference device; one that is hit stops by itself, just before or after the commit of its first write. */
    async device(...hit: string[]) {
      const environment = { DEVICE_TOKEN: token, DEVICE_SIGNAL: "SIGSTOP" }
      const child = start([server.url, db, ...hit], environment, "device-life.ts")
      await child.says(/connected/)
      return child
    },
    async watcher(conversation: string) {
      const child = start([server.url, conversation], { WATCHER_TOKEN: token }, "watcher-life.ts")
      await child.says(/\n/)
      return child
    },
    async bound(mode: "confirm" | "auto") {
      return (await ada.begin({ site: "device", mode })) as ConversationId
    },
    results: async (id: string) =>
      (await ada.get(`/api/conversations/${id}`)).body.messages
        .filter(({ role }: { role: string }) => role === "tool")
        .map(({ content }: { content: string }) => content) as string[],
    rows: () => {
      using file = new DatabaseSync(db, { readOnly: true })
      return file.prepare("SELECT title FROM tasks").all().length
    },
    stoppedByItself: () => expect.poll(() => existsSync(`${db}.stopped`), { timeout: 20_000 }).toBe(true),
    proposal: async () => (await ada.get("/api/agent/proposals")).body.items[0] as { id: string; status: string },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Resolves when the process stands still. */
async function stop({ child }: PawlProcess): Promise<void> {
  child.kill("SIGSTOP")
  const state = () => execFileSync("ps", ["-o", "state=", "-p", String(child.pid)], { encoding: "utf8" }).trim()
  await expect.poll(state, { timeout: 20_000 }).toMatch(/^T/)
}

const goOn = ({ child }: PawlProcess) => child.kill("SIGCONT")

describe("a device whose process is stopped", () => {
  test("is found out within 40 s, its reads fail in that moment, and it is there again when it goes on", async () => {
    const clock = new TurnedClock()
    await using world = await open(clock, calls("list_tasks"), says("Here."), calls("list_tasks"), says("Gone."))
    const device = await world.device()
    const id = await world.bound("confirm")
    await clock.turn(30_000)
    // Its answer to this call comes after its answers to the pings: it lives, and is let live.
    await world.ada.say(id, "look")
    expect(await world.results(id)).toEqual([expect.stringContaining("No tasks found")])
    await clock.turn(14_000)
    expect((await world.ada.get("/api/devices")).body.items).toHaveLength(1)

    await stop(device)
    const { devices } = world.server.face
    const told = world.ada.say(id, "look again")
    await expect.poll(() => devices.size.calls).toBe(1)
    await clock.turn(16_000) // a ping goes out, to nobody
    await clock.turn(9900)
    expect(devices.size).toMatchObject({ devices: 1, calls: 1 })
    await clock.turn(100) // 30 s since the last ping that it answered, and 10 more: the call itself would wait for four
    await told
    expect((await world.results(id))[1]).toContain("the device was disconnected")
    expect((await world.ada.get("/api/devices")).body.items).toEqual([])
    expect(devices.size).toEqual({ devices: 0, speakers: 0, calls: 0, awaited: 0 })

    goOn(device)
    await device.says(/connected\n[\s\S]*waiting\n[\s\S]*connected\n/)
    expect((await world.ada.get("/api/devices")).body.items).toHaveLength(1)
  })

  const places = [
    { place: "before the call has come to it", hit: [] },
    { place: "just before its effect", hit: ["before", "1"] },
    { place: "just after its effect", hit: ["after", "1"] },
  ]
  // A connection that we have closed, and one that we have cut off because its end was not confirmed.
  const ends = [
    { end: "closed", ms: 0 },
    { end: "cut off", ms: 2000 },
  ]

  describe.each(places)("during a write, $place", ({ hit }) => {
    const stopped = async (world: Awaited<ReturnType<typeof open>>, clock: TurnedClock) => {
      const device = await world.device(...hit)
      const id = await world.bound("auto")
      await clock.turn(20_000)
      if (hit.length === 0) await stop(device)
      const told = world.ada.say(id, "milk")
      if (hit.length > 0) await world.stoppedByItself()
      else await expect.poll(() => world.server.face.devices.size.calls).toBe(1)
      await clock.turn(10_000)
      await clock.turn(9900)
      expect(world.server.face.devices.size).toMatchObject({ devices: 1, awaited: 0 })
      await clock.turn(100)
      await expect.poll(() => world.server.face.devices.size).toMatchObject({ devices: 0, awaited: 1 })
      return { device, id, told }
    }

    test.each(ends)("is offered it again when it goes on in time, and does it once ($end)", async ({ ms }) => {
      const clock = new TurnedClock()
      await using world = await open(clock, calls("create_task", MILK), says("Done."))
      const { device, told } = await stopped(world, clock)
      await clock.turn(ms)
      goOn(device)
      expect((await told).body.run.status).toBe("completed")
      expect((await world.proposal()).status).toBe("applied")
      expect(world.rows()).toBe(1)
    })

    test.each(ends)(
      "leaves it in doubt when it does not, and what it did is found when it does ($end)",
      async ({ ms }) => {
        const clock = new TurnedClock()
        await using world = await open(clock, calls("create_task", MILK), always(says("Done.")))
        const { device, told } = await stopped(world, clock)
        await clock.turn(ms)
        await clock.turn(10_000 - ms)
        expect((await told).body.run).toMatchObject({ status: "paused", pauseReason: "in_doubt" })
        const { id, status } = await world.proposal()
        expect(status).toBe("in_doubt")
        goOn(device)
        await device.says(/connected\n[\s\S]*waiting\n[\s\S]*connected\n/)
        expect(world.rows()).toBeLessThanOrEqual(1)
        const retried = await world.ada.post(`/api/agent/proposals/${id}/resolve`, { choice: "retry" })
        expect(retried.body.status).toBe("applied")
        expect(world.rows()).toBe(1)
      },
    )
  })
})

test("a watcher whose process is stopped is let go within 40 s, and has everything once when it goes on", async () => {
  const clock = new TurnedClock()
  await using world = await open(clock, ...["One.", "Two.", "Three."].map((text) => says(text)))
  const { ada } = world
  const id = await ada.begin({ agent: "test" })
  const watcher = await world.watcher(id)
  await ada.say(id, "go")
  await watcher.says(/"type":"done"/)
  await stop(watcher)
  await ada.say(id, "go on")
  expect(await world.openStreams()).toBe(1)
  await clock.turn(30_000)
  await clock.turn(9900)
  expect(await world.openStreams()).toBe(1)
  await clock.turn(100)
  expect(await world.openStreams()).toBe(0)
  await ada.say(id, "and on")
  goOn(watcher)
  await watcher.says(/closed 4408[\s\S]*Three\.[\s\S]*"type":"done"/)
  watcher.child.kill("SIGKILL")
  const { stdout } = await watcher.ended
  const seen = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as SeenFrame] : []))
  const whole = await readFrames(
    await ada.watch(id),
    (frames) => isOver(frames) && frames.at(-1)?.id === seen.at(-1)?.id,
  )
  expect(transcriptOf(seen)).toEqual(transcriptOf(whole))
})

/** Time passes ten times as fast, for real. */
class FastClock implements Clock {
  readonly #start = Date.now()
  now(): number {
    return this.#start + (Date.now() - this.#start) * 10
  }
  alarm(ms: number, ring: () => void, background?: "background"): () => void {
    const timer = setTimeout(ring, ms / 10)
    if (background) timer.unref()
    return () => clearTimeout(timer)
  }
}

// Tried again where the machine itself was busy: what is bounded here is time.
test("while time passes by itself, living peers stay and stopped ones are gone within 40 s", { retry: 2 }, async () => {
  const clock = new FastClock()
  await using world = await open(clock, always(says("Hello.")))
  const device = await world.device()
  const id = await world.ada.begin({ agent: "test" })
  const watcher = await world.watcher(id)
  const there = async () => [(await world.ada.get("/api/devices")).body.items.length, await world.openStreams()]
  const until = clock.now() + 75_000 // two rounds of pings
  while (clock.now() < until) {
    expect(await there()).toEqual([1, 2])
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await stop(device)
  await stop(watcher)
  const from = clock.now()
  await expect.poll(there, { timeout: 20_000, interval: 20 }).toEqual([0, 0])
  const seconds = (clock.now() - from) / 1000
  expect(seconds).toBeLessThan(42)
  goOn(device)
  goOn(watcher)
  await expect.poll(there, { timeout: 20_000 }).toEqual([1, 2])
})
