import { describe, expect, test, vi } from "vitest"
import { always, calls, says } from "../../core/testing.ts"
import { isOver, readFrames, type SeenFrame, transcriptOf } from "../support/server/stream.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { goOn, openHalfOpen, stop } from "../support/lives/half-open.ts"

// A peer whose process is stopped: its connection stays open, but no process answers on it.
vi.setConfig({ testTimeout: 180_000 })

const MILK = { title: "Buy milk" }

describe("a device whose process is stopped", () => {
  test("is detected within 40 s, its reads fail in that moment, and it is back when it resumes", async () => {
    const clock = new TurnedClock()
    await using world = await openHalfOpen(
      clock,
      calls("list_tasks"),
      says("Here."),
      calls("list_tasks"),
      says("Gone."),
    )
    const device = await world.device()
    const id = await world.bound("confirm")
    await clock.turn(30_000)
    // Its answer to this call comes after its answers to the pings, so it counts as alive.
    await world.ada.say(id, "look")
    expect(await world.results(id)).toEqual([expect.stringContaining("No tasks found")])
    await clock.turn(14_000)
    expect((await world.ada.get("/api/devices")).body.items).toHaveLength(1)

    await stop(device)
    const { devices } = world.server.face
    const told = world.ada.say(id, "look again")
    await expect.poll(() => devices.size.calls).toBe(1)
    await clock.turn(16_000) // a ping goes out, and no answer comes
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
    const stopped = async (world: Awaited<ReturnType<typeof openHalfOpen>>, clock: TurnedClock) => {
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

    test.each(ends)("gets the call again when it resumes in time, and carries it out once ($end)", async ({ ms }) => {
      const clock = new TurnedClock()
      await using world = await openHalfOpen(clock, calls("create_task", MILK), says("Done."))
      const { device, told } = await stopped(world, clock)
      await clock.turn(ms)
      goOn(device)
      expect((await told).body.run.status).toBe("completed")
      expect((await world.proposal()).status).toBe("applied")
      expect(world.rows()).toBe(1)
    })

    test.each(ends)(
      "leaves it in doubt if it does not resume in time, and the outcome is found when it does ($end)",
      async ({ ms }) => {
        const clock = new TurnedClock()
        await using world = await openHalfOpen(clock, calls("create_task", MILK), always(says("Done.")))
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

test("a watcher whose process is stopped is disconnected within 40 s, and has everything once when it resumes", async () => {
  const clock = new TurnedClock()
  await using world = await openHalfOpen(clock, ...["One.", "Two.", "Three."].map((text) => says(text)))
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
