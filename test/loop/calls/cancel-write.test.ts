import { describe, expect, test } from "vitest"
import { answer, type CallContext, type Preview } from "../../../core/engine/definition/tool.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { of, openChecked, repliesOf, resultsOf, woken } from "../../support/loop/checked-world.ts"
import { anyDatabase, type TestDatabase } from "../../support/databases.ts"
import { aborted, Held, write } from "../../support/loop/tools.ts"
import { TurnedClock, type World } from "../../support/loop/world.ts"

/** A conversation whose first write is running, in auto mode. */
async function openWriting(create: TestDatabase["create"], writes = calls(["save"], ["save", { q: "second" }])) {
  const database = await create()
  const clock = new TurnedClock()
  const held = new Held()
  const model = scripted(writes, says("Well."), says("Fine."))
  const world = await openChecked({ url: database.url, model, tools: [write("save", held.run)], clock })
  const { id } = await world.start("Save it.", { mode: "auto" })
  const signal = await held.begun
  const { runtime } = world.pawl
  return {
    ...{ world, id, model, held, clock },
    async cancel() {
      await runtime.submit(id, { type: "cancel", by: world.user })
      await aborted(signal)
    },
    rest: () => runtime.rest(id),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

async function statusesOf({ store }: World): Promise<string[]> {
  const rows = await store.engine.query<{ status: string }>("SELECT status FROM proposals ORDER BY status", [])
  return rows.map(({ status }) => status)
}

const lastWords = (history: readonly { readonly role: string; readonly text?: string }[] | undefined) =>
  history?.at(-1)?.text

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a write that ends within two seconds of the cancel keeps its real result", async () => {
    await using scene = await openWriting(create)
    await scene.cancel()
    await scene.clock.turn(1999)
    scene.held.end("Saved.")
    await scene.rest()
    expect(await resultsOf(scene.world, scene.id)).toMatchObject([
      { status: "ok", text: "Saved." },
      { status: "cancelled" }, // the second did not start
    ])
    expect(await statusesOf(scene.world)).toEqual(["applied", "superseded"])
    expect((await scene.world.load(scene.id)).run?.status).toBe("cancelled")
  })

  test("a write that takes longer is interrupted after two seconds, and its result is sent with the next message", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock, model } = scene
    await scene.cancel()
    await clock.turn(1999)
    expect(world.pawl.runtime.isWorking(id)).toBe(true)
    await clock.turn(1)
    await scene.rest()
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["interrupted", "cancelled"])
    expect((await world.load(id)).run?.status).toBe("cancelled")

    const arrived = woken(world, id)
    held.end("Saved after all.")
    await arrived
    await scene.rest()
    expect(await statusesOf(world)).toEqual(["applied", "superseded"])
    await world.send(id, "Is it saved?")
    expect(lastWords(model.received[1]?.history)).toMatch(
      /save was reported as interrupted.*ok\. Saved after all\.[^]*Is it saved\?$/,
    )
    await world.send(id, "Thanks.")
    expect(lastWords(model.received[2]?.history)).toBe("Thanks.")
    expect(of(await world.events(id), "late_result")).toHaveLength(1)
  })

  test("a late result is sent with the next message even if it was only in the inbox", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock, model } = scene
    await scene.cancel()
    await clock.turn(2000)
    await scene.rest()
    const [call] = await resultsOf(world, id)
    // As from a node that shuts down right after it has stored the result.
    await world.store.journal.addToInbox(id, {
      type: "late_result",
      callId: call!.callId,
      status: "ok",
      text: "Saved.",
    })
    await world.send(id, "Is it saved?")
    expect(lastWords(model.received[1]?.history)).toMatch(/Saved\.[^]*Is it saved\?$/)
    const arrived = woken(world, id)
    held.fail(new Error("ended twice, which nobody believes"))
    await arrived
    await scene.rest()
    expect(await statusesOf(world)).toEqual(["applied", "superseded"])
  })

  test("a write that fails late with an unknown outcome stays unsettled", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock } = scene
    await scene.cancel()
    await clock.turn(2000)
    await scene.rest()
    const before = await statusesOf(world)
    held.fail(failure("outcome_unknown", { problem: "It was cut off." }))
    // A late result would be recorded before the next message.
    await world.send(id, "Is it saved?")
    await world.send(id, "Well?")
    expect(of(await world.events(id), "late_result")).toEqual([])
    expect(await statusesOf(world)).toEqual(before)
  })

  test("a write that fails late is reported as failed", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock, model } = scene
    await scene.cancel()
    await clock.turn(2000)
    await scene.rest()
    const arrived = woken(world, id)
    held.fail(new Error("the disk is full"))
    await arrived
    await scene.rest()
    expect(await statusesOf(world)).toEqual(["failed", "superseded"])
    await world.send(id, "Is it saved?")
    expect(lastWords(model.received[1]?.history)).toMatch(/error\. .*the disk is full[^]*Is it saved\?$/)
  })

  test("a write that returns an invalid result late is reported as failed too", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock } = scene
    await scene.cancel()
    await clock.turn(2000)
    await scene.rest()
    const arrived = woken(world, id)
    held.endOddly(undefined)
    await arrived
    await scene.rest()
    expect(await statusesOf(world)).toEqual(["failed", "superseded"])
  })

  test("a message sent right after the cancel does not have to wait for the write", async () => {
    await using scene = await openWriting(create)
    const { world, id, held, clock } = scene
    await scene.cancel()
    await clock.turn(2000)
    await world.send(id, "Something else.")
    expect((await repliesOf(world, id)).at(-1)).toBe("Well.")
    const arrived = woken(world, id)
    held.end("Saved after all.")
    await arrived
    await scene.rest()
  })

  test("a cancel leaves a write in doubt, and the person can still settle it", async () => {
    await using scene = await openWriting(create, calls("save"))
    const { world, id, clock } = scene
    await clock.turn(32_000)
    await scene.rest()
    expect(await statusesOf(world)).toEqual(["in_doubt"])
    const proposalId = (await world.proposals(id))[0]!.proposed.id
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await scene.rest()
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["in_doubt"])
    await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice: "done", by: world.user })
    expect(await statusesOf(world)).toEqual(["applied"])
  })

  test("a write that is cancelled during its last check of the target does not start, and is not stale", async () => {
    await using database = await create()
    const looking = Promise.withResolvers<AbortSignal>()
    let [looks, runs] = [0, 0]
    const preview = async (_: unknown, { signal }: CallContext): Promise<Preview> => {
      if (++looks > 1) {
        looking.resolve(signal)
        await aborted(signal)
      }
      return { summary: "Save it", action: "safe_update", revision: "1" }
    }
    const tool = write("save", () => (runs++, answer("Saved.")), { preview })
    await using world = await openChecked({ url: database.url, model: scripted(calls("save")), tools: [tool] })
    const { id } = await world.start("Save it.", { mode: "auto" })
    await looking.promise
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(await resultsOf(world, id)).toMatchObject([{ status: "cancelled" }])
    expect([runs, await statusesOf(world)]).toEqual([0, ["superseded"]])
  })
})
