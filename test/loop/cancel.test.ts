import { describe, expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { InProcessBus } from "../../core/bus/in-process.ts"
import { calls, hangs, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { beginUntil, of, openChecked, repliesOf, resultsOf, showsText } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import type { World } from "../support/loop/world.ts"

async function cancel({ pawl, user }: World, id: ConversationId): Promise<void> {
  await pawl.runtime.submit(id, { type: "cancel", by: user })
  await pawl.runtime.rest(id)
}

/** The run was cancelled, once, and nothing follows. */
async function expectCancelled(world: World, id: ConversationId): Promise<void> {
  const events = await world.events(id)
  expect(events.at(-1)).toMatchObject({ type: "run_ended", status: "cancelled" })
  expect(of(events, "run_ended")).toHaveLength(of(events, "run_started").length)
  expect((await world.load(id)).run?.status).toBe("cancelled")
}

describe.each(databases)("on $name", ({ create }) => {
  describe("a cancel while the model speaks", () => {
    test("keeps the text that was shown, ends the run once, and the next message works", async () => {
      await using database = await create()
      const model = scripted(hangs("Once upon a ti"), says("The end."))
      await using world = await openChecked({ url: database.url, model })
      const id = await beginUntil(world, "Tell a story.", showsText)
      await cancel(world, id)
      await expectCancelled(world, id)
      const [, told] = of(await world.events(id), "message")
      expect(told).toMatchObject({ role: "assistant", finish: "cancelled", parts: [{ text: "Once upon a ti" }] })

      await world.send(id, "Make it short.")
      expect(model.received[1]?.history).toMatchObject([
        { role: "user" },
        { role: "assistant", parts: [{ type: "text", text: "Once upon a ti" }] },
        { role: "user", text: "Make it short." },
      ])
      expect(await repliesOf(world, id)).toEqual(["Once upon a ti", "The end."])
    })

    test("keeps no message when nothing was shown", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: scripted(hangs()) })
      const { id } = await world.start("Hello?")
      await cancel(world, id)
      await expectCancelled(world, id)
      expect(await repliesOf(world, id)).toEqual([])
    })

    test("keeps no call of an incomplete reply", async () => {
      await using database = await create()
      const model = scripted(replies(says("I look."), calls("look"), hangs()), says("Well."))
      await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
      const id = await beginUntil(world, "Go.", showsText)
      await cancel(world, id)
      expect(await resultsOf(world, id)).toEqual([])
      await world.send(id, "And?")
      expect(await repliesOf(world, id)).toEqual(["I look.", "Well."])
    })

    test("does not wait for a provider that ignores its signal", async () => {
      await using database = await create()
      const deaf: Model = {
        ...{ name: "deaf", provider: "deaf", contextTokens: 1000 },
        async *stream() {
          yield { type: "text", text: "La la" }
          await new Promise(() => {})
        },
      }
      await using world = await openChecked({ url: database.url, model: deaf })
      const id = await beginUntil(world, "Sing.", showsText)
      await cancel(world, id)
      await expectCancelled(world, id)
      expect(await repliesOf(world, id)).toEqual(["La la"])
    })

    test("reaches the node that is at work, from any other node", async () => {
      await using database = await create()
      const bus = new InProcessBus()
      await using one = await openChecked({ url: database.url, model: scripted(hangs("Once")), bus })
      await using two = await openChecked({ url: database.url, model: scripted(), bus })
      const id = await beginUntil(one, "Tell a story.", showsText)
      expect(await two.pawl.runtime.submit(id, { type: "cancel", by: two.user })).toBe("kept")
      await one.pawl.runtime.rest(id)
      await expectCancelled(one, id)
    })

    test("may arrive many times and counts once", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: scripted(hangs("Once")) })
      const id = await beginUntil(world, "Tell a story.", showsText)
      await Promise.all([1, 2, 3, 4, 5].map(() => cancel(world, id)))
      await cancel(world, id)
      await expectCancelled(world, id)
    })
  })

  test("a cancel while reads run aborts them and gives every call of the reply its result", async () => {
    await using database = await create()
    const held = Array.from({ length: 10 }, () => new Held())
    const look = read("look", (input, context) => held[Number(input.q)]!.run(input, context))
    const asked = held.map((_, n): ["look", { q: string }] => ["look", { q: `${n}` }])
    const model = scripted(calls(...asked, ["note"]), says("Well."))
    await using world = await openChecked({ url: database.url, model, tools: [look, write("note")] })
    const { id } = await world.start("Look.")
    const signals = await Promise.all(held.slice(0, 8).map(({ begun }) => begun))
    await cancel(world, id)
    await expectCancelled(world, id)
    expect(signals.every((signal) => signal.aborted)).toBe(true)
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(Array(11).fill("cancelled"))
    await world.send(id, "And?")
    expect(await repliesOf(world, id)).toEqual(["", "Well."])
  })

  test("the late answer of a read after the cancel changes nothing", async () => {
    await using database = await create()
    const held = new Held()
    const model = scripted(calls("look"), says("Well."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look", held.run)] })
    const { id } = await world.start("Look.")
    await held.begun
    await cancel(world, id)
    held.fail(new Error("too late"))
    await world.send(id, "And?")
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["cancelled"])
  })

  describe("a cancel while the run waits for a person", () => {
    test("settles the open proposals and changes nothing", async () => {
      await using database = await create()
      const done: unknown[] = []
      const note = write("note", ({ q }) => answer(`${done.push(q)}`))
      const model = scripted(calls(["note", { q: "a" }], ["note", { q: "b" }]), says("Well."))
      await using world = await openChecked({ url: database.url, model, tools: [note] })
      const id = await world.begin("Write.")
      const [first] = await world.proposals(id)
      await cancel(world, id)
      await expectCancelled(world, id)
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"])
      await expect(world.decide(id, first!.proposed.id, "commit")).rejects.toMatchObject({ code: "proposal_decided" })
      await world.send(id, "And?")
      expect(done).toEqual([])
    })
  })

  test("a cancel of an idle conversation does nothing", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(says("Hi."), says("Ho.")) })
    const id = await world.begin("Hello?")
    const before = await world.types(id)
    await cancel(world, id)
    expect(await world.types(id)).toEqual(before)
    await world.send(id, "Again?")
    expect(await repliesOf(world, id)).toEqual(["Hi.", "Ho."])
  })

  test("a cancelled run can be resumed where it stood", async () => {
    await using database = await create()
    const held = new Held()
    const model = scripted(replies(says("I look."), calls("look")), says("I see."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look", held.run)] })
    const { id } = await world.start("Look.")
    await held.begun
    await cancel(world, id)
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "message").filter(({ role }) => role === "user")).toHaveLength(1)
    expect(model.received[1]?.history.at(-1)).toMatchObject({ role: "tool", results: [{ status: "cancelled" }] })
    expect((await repliesOf(world, id)).at(-1)).toBe("I see.")
  })

  test("resuming a run that was cancelled in the middle of a reply puts a user message in between", async () => {
    await using database = await create()
    const model = scripted(hangs("One, two, "), says("three."))
    await using world = await openChecked({ url: database.url, model })
    const id = await beginUntil(world, "Count.", showsText)
    await cancel(world, id)
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(model.received[1]?.history.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
    expect(await repliesOf(world, id)).toEqual(["One, two, ", "three."])
  })

  test("messages queued behind a cancelled run are held until the next message", async () => {
    await using database = await create()
    const model = scripted(hangs("Once"), says("To the new one."), says("To the queued one."))
    await using world = await openChecked({ url: database.url, model })
    const id = await beginUntil(world, "Tell a story.", showsText)
    await world.pawl.runtime.submit(id, { type: "message", id: "msg_q" as never, text: "Queued.", when: "queue" })
    await cancel(world, id)
    await expectCancelled(world, id)
    expect(model.received).toHaveLength(1)
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(model.received).toHaveLength(1)
    await world.send(id, "New.")
    const said = of(await world.events(id), "message").filter(({ role }) => role === "user")
    expect(said.map(({ parts }) => parts)).toMatchObject([
      [{ text: "Tell a story." }],
      [{ text: "New." }],
      [{ text: "Queued." }],
    ])
    expect(await repliesOf(world, id)).toEqual(["Once", "To the new one.", "To the queued one."])
  })

  test("after repeated stops and resumes that the writer has not read, the list of runs has every run", async () => {
    await using database = await create()
    const model = scripted(hangs("Once"), says("upon a time."))
    await using world = await openChecked({ url: database.url, model })
    const id = await beginUntil(world, "Tell a story.", showsText)
    const { runtime, ports } = world.pawl
    for (const type of ["cancel", "resume", "cancel", "resume"] as const)
      await ports.journal.addToInbox(id, { type, by: world.user })
    ports.bus.wake(id)
    await runtime.rest(id)
    const begun = of(await world.events(id), "run_started").map(({ runId }) => runId)
    const { items } = await world.store.conversations.runs(id, { limit: 10 })
    const rows = items.map(({ id: run, status }) => [run, status]).toReversed()
    expect(rows).toEqual(begun.map((run, at) => [run, at < 2 ? "cancelled" : "completed"]))
    expect(begun).toHaveLength(3)
  })

  test("messages queued behind a cancelled run are held until it is resumed, also by the next process", async () => {
    await using database = await create()
    const id = await (async () => {
      await using world = await openChecked({ url: database.url, model: scripted(hangs("Once")) })
      const id = await beginUntil(world, "Tell a story.", showsText)
      await world.pawl.runtime.submit(id, { type: "message", id: "msg_q" as never, text: "Queued.", when: "queue" })
      await cancel(world, id)
      return id
    })()
    const model = scripted(says("upon a time."), says("To the queued one."))
    await using world = await openChecked({ url: database.url, model })
    expect(await world.pawl.runtime.recover()).toBe(0)
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toEqual(["Once", "upon a time.", "To the queued one."])
  })
})
