import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, failed } from "../../../core/engine/definition/tool.ts"
import { type CallInput, calls, replies, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { beginUntil, of, openChecked, records, repliesOf, resultsOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Held, read, write } from "../../support/loop/tools.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  describe("a turn", () => {
    test("asks the model and ends with its text", async () => {
      await using database = await create()
      const model = scripted(says("Hello Ada.", { chunks: 3 }))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Hello?")
      expect(await world.types(id)).toEqual(["conversation_started", "run_started", "message", "message", "run_ended"])
      expect(await repliesOf(world, id)).toEqual(["Hello Ada."])
      expect(model.received.map(({ history }) => history)).toEqual([[{ role: "user", text: "Hello?" }]])
      expect(model.received[0]?.request.system).toMatch(/^Be exact\.\n\nToday is /)
    })

    test("streams the text as it arrives, and stores exactly that", async () => {
      await using database = await create()
      const model = scripted(replies(says("One 👋🏽 ", { chunks: 4 }), calls("look")), says("two", { chunks: 3 }))
      await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
      let shown = ""
      const { id } = await world.pawl.runtime.begin({ user: world.user, agent: "test" })
      world.pawl.ports.bus.subscribe(id, (live) => {
        if (live.type === "text_delta") shown += live.text
      })
      await world.send(id, "Count.")
      expect(shown).toBe("One 👋🏽 two")
      expect((await repliesOf(world, id)).join("")).toBe(shown)
    })

    test("includes the whole previous history in the next turn", async () => {
      await using database = await create()
      const model = scripted(says("First."), says("Second."))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("One?")
      await world.send(id, "Two?")
      expect(model.received[1]?.history).toMatchObject([
        { role: "user", text: "One?" },
        { role: "assistant", parts: [{ text: "First." }] },
        { role: "user", text: "Two?" },
      ])
    })
  })

  test("every outcome of a call is one result that the model can use, and none ends the run", async () => {
    await using database = await create()
    const strict = z.object({ count: z.number(), sort: z.enum(["asc", "desc"]) })
    const tools = [
      read("fine"),
      read("sorry", () => failed("Try another.")),
      read("throws", () => Promise.reject(new Error("out of paper"))),
      read("throws_odd", () => Promise.reject(7 as unknown as Error)),
      defineTool({ ...read("strict"), input: strict }),
      write("note"),
    ]
    const cases: [called: [name: string, input?: CallInput], status: "ok" | "error", text: RegExp][] = [
      [["fine"], "ok", /^fine found$/],
      [["sorry"], "error", /^Try another\.$/],
      [["throws"], "error", /^throws failed: out of paper$/],
      [["throws_odd"], "error", /^throws_odd failed: 7$/],
      [["mystery"], "error", /no tool "mystery".*fine.*sorry/],
      [["fine", "{oops"], "error", /not a JSON object, or too large: \{oops/],
      [["fine", "[1]"], "error", /not a JSON object, or too large: \[1\]/],
      [["strict", { count: "many", sort: "up" }], "error", /count: .*number.*; sort: .*"asc"/],
      [["strict", { sort: "asc" }], "error", /count: .*expected number/],
      [["note", { q: 5 }], "error", /q: .*expected string/],
    ]
    const model = scripted(calls(...cases.map(([called]) => called)), says("I see."))
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Go.")
    const results = await resultsOf(world, id)
    expect(results.map(({ status, text }) => ({ status, text }))).toEqual(
      cases.map(([, status, text]) => ({ status, text: expect.stringMatching(text) })),
    )
    const told = results.map(({ callId, status, text }, n) => ({ callId, name: cases[n]?.[0][0], status, text }))
    expect(model.received[1]?.history.at(-1)).toEqual({ role: "tool", results: told })
    expect(await repliesOf(world, id)).toEqual(["", "I see."])
    expect((await world.load(id)).run).toMatchObject({ status: "completed", iteration: 1 })
  })

  describe("the calls of one reply", () => {
    test("run concurrently, at most eight at a time, and keep their order however they end", async () => {
      await using database = await create()
      const count = 20
      const held = Array.from({ length: count }, () => new Held())
      let running = 0
      let most = 0
      const look = read("look", async ({ q }, context) => {
        most = Math.max(most, ++running)
        const found = await held[Number(q)]?.run({}, context)
        running--
        return found ?? failed("nobody")
      })
      const names = Array.from({ length: count }, (_, n): ["look", { q: string }] => ["look", { q: `${n}` }])
      const model = scripted(calls(...names), says("Seen."))
      await using world = await openChecked({ url: database.url, model, tools: [look] })
      const { id } = await world.start("Look.")
      // The youngest running call ends first, so that results do not arrive in call order.
      const open: number[] = [0, 1, 2, 3, 4, 5, 6, 7]
      for (let next = open.length; open.length > 0; next++) {
        await Promise.all(open.map((n) => held[n]!.begun))
        const youngest = open.pop() as number
        if (next < count) open.push(next)
        held[youngest]?.end(`found ${youngest}`)
      }
      await world.pawl.runtime.rest(id)
      expect(most).toBe(8)
      const ended = of(await world.events(id), "tool_end").map(({ seq }) => seq)
      expect(ended).not.toEqual([...ended].sort((a, b) => a - b))
      const results = await resultsOf(world, id)
      expect(results.map(({ seq }) => seq)).toEqual(names.map((_, n) => n + 3))
      expect(results.map(({ text }) => text)).toEqual(names.map((_, n) => `found ${n}`))
      const told = model.received[1]?.history.at(-1)
      expect(told?.role === "tool" && told.results.map(({ text }) => text)).toEqual(names.map((_, n) => `found ${n}`))
    })

    test("are stored among the messages in call order, as plain SQL shows", async () => {
      await using database = await create()
      const slow = new Held()
      const quick = read("quick", () => answer("quick"))
      const model = scripted(calls(["slow"], ["quick"]), says("Both."))
      await using world = await openChecked({ url: database.url, model, tools: [read("slow", slow.run), quick] })
      const id = await beginUntil(world, "Go.", records("tool_end"))
      slow.end("slow")
      await world.pawl.runtime.rest(id)
      const sql = "SELECT seq, role, content FROM messages WHERE conversation_id = ? ORDER BY seq"
      const rows = await world.store.engine.query<{ seq: number; role: string; content: string }>(sql, [id])
      expect(rows.map(({ seq, role, content }) => [seq, role, content])).toEqual([
        [1, "user", "Go."],
        [2, "assistant", ""],
        [3, "tool", "slow"],
        [4, "tool", "quick"],
        [5, "assistant", "Both."],
      ])
    })

    test("run their reads and pause once for all their writes; the model gets the results when all are settled", async () => {
      await using database = await create()
      const model = scripted(calls(["note", { q: "1" }], ["look"], ["note", { q: "2" }], ["mystery"]), says("Done."))
      await using world = await openChecked({ url: database.url, model, tools: [read("look"), write("note")] })
      const id = await world.begin("Go.")
      const types = await world.types(id)
      expect(types.filter((type) => type === "awaiting_confirmation")).toHaveLength(1)
      expect(types.at(-1)).toBe("awaiting_confirmation")
      expect(await world.results(id)).toHaveLength(2)
      const [first, second] = await world.proposals(id)
      await world.decide(id, second!.proposed.id, "commit")
      expect(model.received).toHaveLength(1)
      await world.decide(id, first!.proposed.id, "reject")
      expect(model.received).toHaveLength(2)
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["rejected", "ok", "ok", "error"])
    })
  })
})
