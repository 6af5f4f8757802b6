import { describe, expect, test } from "vitest"
import { fork } from "../../../core/engine/fork.ts"
import type { HistoryMessage } from "../../../core/engine/model.ts"
import { calls, replies, says, thinks } from "../../../core/models/scripted/script.ts"
import { always, type ScriptedModel, scripted } from "../../../core/models/scripted/model.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { of, openChecked, repliesOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Held, read } from "../../support/loop/tools.ts"
import { message, openWorld } from "../../support/loop/world.ts"

/** A registry of scripted models, `a` being the default. */
function registry(models: Record<string, ScriptedModel>) {
  for (const [name, model] of Object.entries(models)) model.name = name
  return {
    async get(name: string | null) {
      const model = models[name ?? "a"]
      if (!model) throw failure("unknown_model", { name: name ?? "a", choices: Object.keys(models).join(", ") })
      return model
    },
  }
}

const thoughts = (history: readonly HistoryMessage[] = []) =>
  history.flatMap((turn) =>
    turn.role === "assistant" ? turn.parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])) : [],
  )

describe.each(anyDatabase)("on $name", ({ create }) => {
  describe("a model that is switched between turns", () => {
    test("sees all messages and none of the other model's thoughts", async () => {
      await using database = await create()
      const a = scripted(replies(thinks("a thinks"), says("From a.")), says("Again a."))
      const b = scripted(replies(thinks("b thinks"), says("From b.")))
      await using world = await openChecked({ url: database.url, model: registry({ a, b }) })
      const id = await world.begin("One?")
      await world.pawl.runtime.submit(id, { type: "settings", model: "b" })
      await world.send(id, "Two?")
      await world.pawl.runtime.submit(id, { type: "settings", model: "a" })
      await world.send(id, "Three?")
      expect(b.received[0]?.history.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
      expect(thoughts(b.received[0]?.history)).toEqual([])
      expect(thoughts(a.received[1]?.history)).toEqual(["a thinks"])
      expect(of(await world.events(id), "message").map(({ model }) => model)).toEqual([
        ...[undefined, "a", undefined, "b", undefined, "a"],
      ])
    })

    test("is still the chosen one after a restart", async () => {
      await using database = await create()
      const id = await (async () => {
        await using world = await openChecked({ url: database.url, model: registry({ a: scripted(says("From a.")) }) })
        const id = await world.begin("One?")
        await world.pawl.runtime.submit(id, { type: "settings", model: "b" })
        return id
      })()
      const b = scripted(says("From b."))
      await using world = await openChecked({ url: database.url, model: registry({ a: scripted(), b }) })
      await world.send(id, "Two?")
      expect(await repliesOf(world, id)).toEqual(["From a.", "From b."])
    })

    test("may be switched while a run works, and answers from the next reply on", async () => {
      await using database = await create()
      const held = new Held()
      const [a, b] = [scripted(calls("look")), scripted(says("From b."))]
      await using world = await openChecked({
        url: database.url,
        model: registry({ a, b }),
        tools: [read("look", held.run)],
      })
      const { id } = await world.start("Look.")
      await held.begun
      await world.pawl.runtime.submit(id, { type: "settings", model: "b" })
      held.end("found")
      await world.pawl.runtime.rest(id)
      expect(await repliesOf(world, id)).toEqual(["", "From b."])
    })

    test("fails before anything is stored if no model has that name, and the error names it", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: registry({ a: scripted(says("From a.")) }) })
      const id = await world.begin("One?")
      await world.pawl.runtime.submit(id, { type: "settings", model: "ghost" })
      const before = await world.types(id)
      await expect(world.send(id, "Two?")).rejects.toMatchObject({ code: "unknown_model" })
      await expect(
        world.pawl.runtime.begin({ user: world.user, agent: "test", model: "ghost" }, message("Hello?")),
      ).rejects.toMatchObject({ code: "unknown_model" })
      expect(await world.types(id)).toEqual(before)
      expect(await world.store.engine.query("SELECT id FROM conversations", [])).toHaveLength(1)
    })

    test("ends the run with a typed error if the model disappears during the run", async () => {
      await using database = await create()
      const held = new Held()
      const model = registry({ a: scripted(calls("look")) })
      await using world = await openChecked({ url: database.url, model, tools: [read("look", held.run)] })
      const { id } = await world.start("Look.")
      await held.begun
      await world.pawl.runtime.submit(id, { type: "settings", model: "ghost" })
      held.end("found")
      await world.pawl.runtime.rest(id)
      expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "unknown_model" } })
    })
  })

  test("a long conversation is cut rarely, in large steps, each journaled; between them the prompt only grows", async () => {
    await using database = await create()
    const model = scripted(always(says("y".repeat(180))))
    model.contextTokens = 2000
    await using world = await openChecked({ url: database.url, model, summaryModel: "none" })
    const id = await world.begin(`0 ${"x".repeat(180)}`)
    const turns = 60
    for (let n = 1; n < turns; n++) await world.send(id, `${n} ${"x".repeat(180)}`)
    const events = await world.events(id)
    const cuts = of(events, "history_cut")
    expect(cuts.length).toBeGreaterThanOrEqual(3)
    expect(cuts.length).toBeLessThanOrEqual(8)
    expect(cuts.every(({ tokens }) => tokens > 600)).toBe(true)

    let grown = 0
    model.received.forEach(({ history }, n) => {
      expect(history[0]?.role).toBe("user")
      expect(history.at(-1)).toMatchObject({ role: "user", text: expect.stringMatching(new RegExp(`^${n} `)) })
      expect(JSON.stringify(history).length / 4).toBeLessThan(2000)
      const before = model.received[n - 1]?.history ?? []
      if (JSON.stringify(history.slice(0, before.length)) === JSON.stringify(before)) grown++
    })
    expect(grown).toBe(turns - cuts.length)
    // The cut removes them only from what the model gets.
    expect(of(events, "message")).toHaveLength(2 * turns)
  })

  describe("a journal with an event of a newer Pawl", () => {
    test("can be read, but new input is refused and it is never recovered", async () => {
      await using database = await create()
      // Not checked at the end: it is not in the state that this Pawl would leave.
      await using older = await openWorld({ url: database.url, model: scripted(says("Hi.")) })
      const id = await older.begin("Hello?")
      const insert = `INSERT INTO event (conversation, position, type, version, at, body)
        SELECT key, 6, 'teleported', 1, 0, '{"to":"Mars"}' FROM conversation WHERE id = ?`
      // As a writer leaves it that crashes in the middle of a run.
      const left = "UPDATE conversation SET status = 'running', owner = 'node_gone' WHERE id = ?"
      const statements = [insert, left].map((sql) => ({ sql, values: [id] }))
      await older.store.engine.change({ type: "statements", statements })

      const model = scripted()
      await using world = await openWorld({ url: database.url, model })
      const head = () => world.store.engine.query("SELECT owner, fence, status FROM conversation WHERE id = ?", [id])
      const before = await head()
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      for (const input of [
        message("Hello?"),
        { type: "cancel", by: world.user },
        { type: "resume", by: world.user },
      ] as const) {
        await expect(world.pawl.runtime.submit(id, input)).rejects.toMatchObject({ code: "newer_journal", status: 409 })
      }
      await expect(fork(world.pawl.ports, id, 6)).rejects.toMatchObject({ code: "newer_journal" })
      expect(await head()).toEqual(before)
      expect(await world.types(id)).toHaveLength(6)
      expect((await world.events(id)).at(-1)).toMatchObject({ type: "teleported", position: 6, to: "Mars" })
      expect(model.received).toEqual([])
    })
  })
})
