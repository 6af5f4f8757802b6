import { describe, expect, test } from "vitest"
import { answer, type CallContext } from "../../core/engine/definition/tool.ts"
import { calls, hangs, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { beginUntil, of, openChecked, repliesOf, resultsOf, showsText, woken } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { aborted, Held, read, write } from "../support/loop/tools.ts"
import { TurnedClock, type World } from "../support/loop/world.ts"

const SECOND = 1000
const HOUR = 3600 * SECOND

async function expectTimeIsUp(world: World, id: ConversationId): Promise<void> {
  await world.pawl.runtime.rest(id)
  const { run } = await world.load(id)
  expect(run).toMatchObject({
    status: "failed",
    error: { code: "run_timeout", message: expect.stringContaining("PAWL_RUN_SECONDS") },
  })
  expect(of(await world.events(id), "run_ended")).toHaveLength(1)
}

describe.each(anyDatabase)("on $name", ({ create }) => {
  describe("a tool", () => {
    test.each([undefined, 5, 120])(
      "that reads may take its own time (%s s; 30 s by default) and no longer",
      async (own) => {
        await using database = await create()
        const clock = new TurnedClock()
        const held = new Held()
        const tool = read("look", held.run, own ? { timeoutSeconds: own } : {})
        const model = scripted(calls("look"), says("Never mind."))
        await using world = await openChecked({ url: database.url, model, tools: [tool], clock })
        const { id } = await world.start("Look.")
        const signal = await held.begun
        await clock.turn((own ?? 30) * SECOND - 1)
        expect(signal.aborted).toBe(false)
        await clock.turn(1)
        expect(signal.aborted).toBe(true)
        await world.pawl.runtime.rest(id)
        expect(await resultsOf(world, id)).toMatchObject([
          { status: "timed_out", text: expect.stringContaining(`${own ?? 30} s`) },
        ])
        expect(await repliesOf(world, id)).toEqual(["", "Never mind."])
      },
    )

    test("that writes for too long is in doubt, never failed, and its late answer settles it", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const model = scripted(calls("save"), says("Saved."))
      await using world = await openChecked({ url: database.url, model, tools: [write("save", held.run)], clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      await held.begun
      await clock.turn(32 * SECOND)
      await world.pawl.runtime.rest(id)
      expect(await resultsOf(world, id)).toEqual([])
      expect(await world.proposals(id)).toMatchObject([{ status: "in_doubt" }])
      const arrived = woken(world, id)
      held.end("Saved at last.")
      await arrived
      await world.pawl.runtime.rest(id)
      expect(await resultsOf(world, id)).toMatchObject([{ status: "ok", text: "Saved at last." }])
      expect((await world.load(id)).run?.status).toBe("completed")
    })
  })

  describe("a run that has worked for 30 minutes", () => {
    test("in the middle of a reply is ended, and the text that was shown is kept", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const model = scripted(hangs("Once upon"), says("The end."))
      await using world = await openChecked({ url: database.url, model, clock })
      const id = await beginUntil(world, "Tell a story.", showsText)
      await clock.turn(1800 * SECOND - 1)
      expect(world.pawl.runtime.isWorking(id)).toBe(true)
      await clock.turn(1)
      await expectTimeIsUp(world, id)
      expect(of(await world.events(id), "message").at(-1)).toMatchObject({
        finish: "broken",
        parts: [{ text: "Once upon" }],
      })
      await world.send(id, "Shorter.")
      expect(await repliesOf(world, id)).toEqual(["Once upon", "The end."])
    })

    test("while reads run is ended, and every call has its result", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const model = scripted(calls(["look"], ["note"]), says("Well."))
      const tools = [read("look", held.run, { timeoutSeconds: 9999 }), write("note")]
      await using world = await openChecked({ url: database.url, model, tools, clock })
      const { id } = await world.start("Look.")
      await held.begun
      await clock.turn(1800 * SECOND)
      await expectTimeIsUp(world, id)
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["timed_out", "timed_out"])
      await world.send(id, "And?")
      expect((await repliesOf(world, id)).at(-1)).toBe("Well.")
    })

    test("while one write runs and another waits gives the first two seconds and never starts the second", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const begun: unknown[] = []
      const save = write("save", (input, context) => (begun.push(input.q), held.run(input, context)), {
        timeoutSeconds: 9999,
      })
      const model = scripted(calls(["save", { q: "first" }], ["save", { q: "second" }]), says("Well."))
      await using world = await openChecked({ url: database.url, model, tools: [save], clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      const signal = await held.begun
      await clock.turn(1800 * SECOND)
      await aborted(signal)
      await clock.turn(2 * SECOND)
      await expectTimeIsUp(world, id)
      expect(begun).toEqual(["first"])
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["interrupted", "timed_out"])
    })

    test("starts nothing more of its own, and does what a person has approved since", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const run = (input: { q?: string | undefined }, context: CallContext) =>
        input.q === "first" ? held.run(input, context) : answer("Saved.")
      // While the target is checked again, all timers that are due fire.
      const preview = async () => {
        await clock.turn(0)
        return { summary: "Save.", action: "safe_update", revision: "1" } as const
      }
      const tools = [write("save", run, { timeoutSeconds: 9999, preview })]
      const model = scripted(calls(["save", { q: "first" }], ["save", { q: "second" }]), says("Well."))
      const policy = { proposalMinutes: 999 }
      await using world = await openChecked({ url: database.url, model, tools, clock, policy })
      const { id } = await world.start("Save both.")
      const { runtime } = world.pawl
      await runtime.rest(id)
      const [first, second] = (await world.proposals(id)).map(({ proposed }) => proposed.id)
      const yes = { type: "decide", decision: "commit", by: world.user } as const
      await runtime.submit(id, { ...yes, proposalId: first! })
      const signal = await held.begun
      await clock.turn(1800 * SECOND)
      await aborted(signal)
      held.end("Saved.")
      await runtime.rest(id)
      await runtime.submit(id, { ...yes, proposalId: second! })
      await expectTimeIsUp(world, id)
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok", "ok"])
    })

    test("has another limit if the operator sets one", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const model = scripted(hangs("Once"))
      await using world = await openChecked({ url: database.url, model, clock, limits: { runSeconds: 5 } })
      const id = await beginUntil(world, "Tell a story.", showsText)
      await clock.turn(5 * SECOND)
      await expectTimeIsUp(world, id)
      expect((await world.load(id)).run?.error?.message).toContain("5 s")
    })

    test("does not count the time in which it waited for a person", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const [before, after] = [new Held(), new Held()]
      const model = scripted(calls(["before"], ["note"]), calls("after"), says("Done."))
      const long = { timeoutSeconds: 9999 }
      const tools = [read("before", before.run, long), read("after", after.run, long), write("note")]
      const policy = { proposalMinutes: 999 }
      await using world = await openChecked({ url: database.url, model, tools, clock, policy })
      const { id } = await world.start("Go.")
      await before.begun
      await clock.turn(100 * SECOND)
      before.end("fine")
      await world.pawl.runtime.rest(id)
      await clock.turn(HOUR)
      const [open] = await world.proposals(id)
      await world.pawl.runtime.submit(id, {
        type: "decide",
        proposalId: open!.proposed.id,
        decision: "commit",
        by: world.user,
      })
      await after.begun
      await clock.turn(1699 * SECOND)
      expect(world.pawl.runtime.isWorking(id)).toBe(true)
      await clock.turn(SECOND)
      await expectTimeIsUp(world, id)
    })
  })

  test("a server that shuts down while one write runs and another waits does not start the second, and the next one starts only that", async () => {
    await using database = await create()
    const held = new Held()
    const begun: unknown[] = []
    const save = write("save", (input, context) => {
      begun.push(input.q)
      return input.q === "first" ? held.run(input, context) : answer("Saved.")
    })
    const id = await (async () => {
      const model = scripted(calls(["save", { q: "first" }], ["save", { q: "second" }]))
      await using world = await openChecked({ url: database.url, model, tools: [save] })
      const { id } = await world.start("Save.", { mode: "auto" })
      const signal = await held.begun
      const closed = world.pawl.runtime.close()
      await aborted(signal)
      held.end("Saved.")
      await closed
      return id
    })()
    expect(begun).toEqual(["first"])
    await using world = await openChecked({
      url: database.url,
      model: scripted(says("Both are saved.")),
      tools: [save],
    })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(begun).toEqual(["first", "second"])
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok", "ok"])
  })
})
