import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Answer, answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { type CallInput, calls, finishes, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { of, openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { anyDatabase, type TestDatabase } from "../support/databases.ts"
import { read, write } from "../support/loop/tools.ts"

const MEGABYTE = 1024 * 1024

/** Has the model call all these tools in one reply, in auto mode, and returns the result of each. */
async function callAll(create: TestDatabase["create"], tools: readonly Tool[], input: CallInput = {}) {
  await using database = await create()
  const called = tools.map(({ name }): [string, CallInput] => [name, input])
  const model = scripted(calls(...called), says("I see."))
  await using world = await openChecked({ url: database.url, model, tools })
  const id = await world.begin("Go.", { mode: "auto" })
  const conversation = await world.load(id)
  expect(conversation.run).toMatchObject({ status: "completed" })
  expect(await repliesOf(world, id)).toEqual(["", "I see."])
  const results = await resultsOf(world, id)
  return { results, conversation, result: results[0]! }
}

/** A read and a write for each of these, named after it, that return its answer. */
function eachKind<T>(cases: Readonly<Record<string, T>>, run: (value: T) => Promise<Answer> | Answer): Tool[] {
  return Object.entries(cases).flatMap(([name, value]) => [
    read(`read_${name}`, () => run(value)),
    write(`write_${name}`, () => run(value)),
  ])
}

const circle: Record<string, unknown> = {}
circle.self = circle
let deep: unknown = 1
for (let level = 0; level < 20_000; level++) deep = [deep]
const sly = {
  get secret() {
    throw new Error("not for you")
  },
}

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a reply full of faulty calls gets one result for each call, and the run continues", async () => {
    await using database = await create()
    const name = "x".repeat(10_000)
    const model = scripted(
      calls(
        ["mystery"],
        ["look", "not json"],
        ["look", { q: 7 }],
        ["look", "[]"],
        [name],
        [""],
        ["note", "null"],
        ["look"],
      ),
      says("I see."),
    )
    await using world = await openChecked({ url: database.url, model, tools: [read("look"), write("note")] })
    const id = await world.begin("Go.")
    const results = await resultsOf(world, id)
    expect(results.map(({ status }) => status)).toEqual([...Array(7).fill("error"), "ok"])
    expect(results.every(({ text }) => text.length < 1000)).toBe(true)
    expect(await repliesOf(world, id)).toEqual(["", "I see."])
  })

  test("two hundred calls in one reply all get their result, in order", async () => {
    await using database = await create()
    const asked = Array.from({ length: 200 }, (_, n): ["look", { q: string }] => ["look", { q: `${n}` }])
    const look = read("look", ({ q }) => answer(`found ${q}`))
    await using world = await openChecked({
      url: database.url,
      model: scripted(calls(...asked), says("All.")),
      tools: [look],
    })
    const id = await world.begin("Go.")
    expect((await resultsOf(world, id)).map(({ text }) => text)).toEqual(asked.map(([, { q }]) => `found ${q}`))
    expect(await repliesOf(world, id)).toEqual(["", "All."])
  })

  test("an empty reply ends the run with an error, and the next message works", async () => {
    await using database = await create()
    const model = scripted(finishes("stop"), says("Sorry."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Hello?")
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: "empty_reply" }])
    await world.send(id, "Hello??")
    expect(await repliesOf(world, id)).toEqual(["", "Sorry."])
  })

  test.each([
    ["cut while it thinks", replies(thinks("Hm, hm"), finishes("limit")), "limit"],
    ["refused before its first word", replies(thinks("Hm"), finishes("refused")), "refused"],
    ["of thinking alone", replies(thinks("Hm"), finishes("stop")), "empty_reply"],
    ["of blanks", replies(thinks("Hm"), says(" \n"), finishes("stop")), "empty_reply"],
  ])("a reply %s ends the run with the reason, and is sent to no provider", async (_, reply, reason) => {
    await using database = await create()
    const model = scripted(reply, says("Sorry."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Hello?")
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason }])
    await world.send(id, "Hello??")
    expect((await repliesOf(world, id)).at(-1)).toBe("Sorry.")
    expect(model.received[1]?.history.map(({ role }) => role)).toEqual(["user", "user"])
  })

  test("calls after the last iteration are dropped with the thinking that led to them", async () => {
    await using database = await create()
    const refuses = replies(thinks("I answer"), says("Yes."), thinks("I look once more"), calls("look"))
    const model = scripted(calls("look"), refuses, says("Again."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
    const id = await world.begin("Is it?", { maxIterations: 1 })
    await world.send(id, "Sure?")
    const thought = { type: "reasoning", text: "I answer" }
    expect(model.received[2]?.history.at(-2)).toMatchObject({ parts: [thought, { text: "Yes." }] })
  })

  test.each(["limit", "refused"] as const)(
    "a reply that ends with %s is stored, and the run says why it ended",
    async (finish) => {
      await using database = await create()
      await using world = await openChecked({
        url: database.url,
        model: scripted(replies(says("Once upon"), finishes(finish))),
      })
      const id = await world.begin("Tell a story.")
      expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: finish }])
      expect(await repliesOf(world, id)).toEqual(["Once upon"])
    },
  )

  describe("a tool", () => {
    test("that returns 20 MB shows the model the start of it and says that it was truncated", async () => {
      const { result } = await callAll(create, [read("look", () => answer("é".repeat(20 * MEGABYTE)))])
      expect(result.status).toBe("ok")
      expect(result.text.length).toBeLessThan(51_000)
      expect(result.text).toMatch(/^é+\n\[Cut: the first 50000 of 20971520 characters\./)
    })

    test("may set how much of it the model gets, and is never truncated inside a character", async () => {
      const { result } = await callAll(create, [read("look", () => answer("👋".repeat(10)), { maxOutput: 5 })])
      expect(result.text).toMatch(/^👋👋\ufffd\n\[Cut: the first 5 of 20/)
    })

    test("that returns 20 MB of data stores a mark in its place", async () => {
      const rows = Array.from({ length: 20 }, () => "x".repeat(MEGABYTE))
      const { result } = await callAll(create, [read("look", () => answer("Many rows.", { data: { rows } }))])
      expect(result).toMatchObject({ status: "ok", text: "Many rows.", data: { truncated: true } })
    })

    test("that returns data or state which cannot be stored still sends its text", async () => {
      const extras: Record<string, { data?: unknown; state?: Record<string, unknown> }> = {
        circular_data: { data: circle },
        deep_data: { data: deep },
        bigint: { data: 7n },
        throwing_data: { data: sly },
        circular_state: { state: circle },
        text_as_state: { state: "nonsense" as never },
        list_as_state: { state: ["nonsense"] as never },
        null_as_state: { state: null as never },
        huge_state: { state: { all: "x".repeat(2 * MEGABYTE) } },
      }
      const { results, conversation } = await callAll(
        create,
        eachKind(extras, (extra) => answer("Here.", extra)),
      )
      expect(results).toHaveLength(18)
      for (const { status, text } of results) expect([status, text]).toEqual(["ok", expect.stringMatching(/^Here\./)])
      expect(conversation.state).toEqual({})
    })

    test("that returns an invalid result is reported as defective", async () => {
      const answers: Record<string, unknown> = {
        nothing: undefined,
        null: null,
        bare_text: "fine",
        number: 42,
        no_text: { status: "ok" },
        unknown_status: { status: "great", text: "x" },
        odd_text: { status: "ok", text: { length: 3 } },
      }
      const { results } = await callAll(
        create,
        eachKind(answers, (value) => value as Answer),
      )
      expect(results).toHaveLength(14)
      for (const { status, text } of results)
        expect([status, text]).toEqual(["error", expect.stringMatching(/gave no answer/)])
    })

    test("that throws any value is one result", async () => {
      const thrown: Record<string, unknown> = {
        nothing: undefined,
        no_prototype: Object.create(null),
        odd_message: Object.assign(new Error("x"), { message: 5 }),
        megabyte: new Error("x".repeat(MEGABYTE)),
        bad_text: new Error("a\0b\ud83d"),
        cut_in_a_sign: new Error(`${"x".repeat(1999)}👋`),
      }
      const { results } = await callAll(
        create,
        eachKind(thrown, (error) => Promise.reject(error as Error)),
      )
      expect(results).toHaveLength(12)
      for (const { status, text } of results) {
        expect([status, text]).toEqual(["error", expect.stringMatching(/^\w+ failed: [^\0]+$/)])
        expect(text.length).toBeLessThan(2100)
        expect(text.isWellFormed()).toBe(true)
      }
    })

    test("whose schema throws is one result", async () => {
      const explodes = z.object({
        q: z.string().transform(() => {
          throw new Error("boom")
        }),
      })
      const tools = eachKind({ odd: undefined }, () => answer("never")).map((tool) =>
        defineTool({ ...tool, input: explodes }),
      )
      const { results } = await callAll(create, tools, { q: "x" })
      expect(results).toMatchObject(Array(2).fill({ status: "error", text: expect.stringContaining("boom") }))
    })

    test("that cannot preview its write does not run; a malformed preview counts as the most dangerous", async () => {
      await using database = await create()
      const previews: Record<string, unknown> = {
        no_summary: { action: "safe_create" },
        odd_summary: { summary: 7, action: "safe_create" },
        circular_diff: { summary: "circle", action: "safe_create", diff: { before: circle, after: 1 } },
        unknown_action: { summary: "harmless", action: "harmless" },
      }
      let ran = 0
      const tools = Object.entries(previews).map(([name, preview]) =>
        write(name, () => answer(`${++ran}`), { preview: () => preview as never }),
      )
      const model = scripted(calls(...tools.map(({ name }): [string] => [name])))
      await using world = await openChecked({ url: database.url, model, tools })
      const id = await world.begin("Go.")
      expect(ran).toBe(0)
      expect(await resultsOf(world, id)).toMatchObject([
        { status: "error", text: expect.stringContaining("no_summary") },
        { status: "error", text: expect.stringContaining("odd_summary") },
      ])
      expect((await world.proposals(id)).map(({ proposed }) => proposed)).toMatchObject([
        { summary: "circle", diff: { before: { unreadable: true }, after: 1 } },
        { summary: "harmless", action: "destructive_update" },
      ])
    })

    test("never gets a hostile __proto__, neither in its arguments nor on all objects", async () => {
      const seen: unknown[] = []
      const loose = defineTool({
        ...read("look", (input) => (seen.push(input), answer("Looked."))),
        input: z.looseObject({}),
      })
      const hostile = '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"q":"x"}'
      const { result } = await callAll(create, [loose], hostile)
      expect(result.status).toBe("ok")
      const [input] = seen as Record<string, unknown>[]
      expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
      expect((input as { admin?: unknown }).admin).toBeUndefined()
      expect(({} as { admin?: unknown }).admin).toBeUndefined()
    })
  })
})

// Not every database would refuse it.
describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a tool result with text that cannot be stored is repaired, everywhere in it", async () => {
    const bad = "a\0b\ud83d"
    const mended = "a\ufffdb\ufffd"
    const odd = answer(bad, { data: { [bad]: [bad] }, state: { [bad]: bad } })
    const { results, conversation } = await callAll(
      create,
      eachKind({ odd }, (given) => given),
    )
    for (const result of results) {
      expect(result).toMatchObject({
        status: "ok",
        text: mended,
        data: { [mended]: [mended] },
        state: { [mended]: mended },
      })
    }
    expect(conversation.state).toEqual({ [mended]: mended })
  })
})
