import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { completeJson, PartialAnswers } from "../../core/api/partial-answer.ts"
import { frames } from "../../core/protocol/frames.ts"
import { type Answer, defineTool, hasCode, openPawl, type PawlEvent } from "../../core/index.ts"
import { calls, hangs, says, scripted } from "../../core/testing.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  effect: "read",
  run: () => "A cat.",
})

/** Collects every event, and the answer after them. */
async function collect<Event>(events: AsyncGenerator<Event, Answer, undefined>) {
  const told: Event[] = []
  for (;;) {
    const { done, value } = await events.next()
    if (done) return { told, answer: value }
    told.push(value)
  }
}

const open = (model: ReturnType<typeof scripted>) =>
  openPawl({ store: ":memory:", models: model, agents: [{ name: "a", tools: [look] }] })

test("a stream emits all events of a question in order, and the iteration returns the answer", async () => {
  await using pawl = await open(scripted(calls("look"), says("It is a cat.", { chunks: 3 })))
  const { told, answer } = await collect(pawl.stream("What is there?"))
  const types = told.map(({ type }) => type).filter((type) => type !== "text_delta" && type !== "usage")
  const work = ["message", "tool_start", "tool_end", "message"]
  expect(types).toEqual(["run_started", "message", ...work, "run_ended", "done"])
  const text = told.flatMap((event) => (event.type === "text_delta" ? [event.data.text] : [])).join("")
  expect(text).toBe("It is a cat.")
  expect(answer).toMatchObject({ status: "answered", text: "It is a cat." })
})

test("nothing is asked before the iteration starts", async () => {
  const model = scripted(says("Hello."))
  await using pawl = await open(model)
  const events = pawl.stream("Hi.")
  expect((await pawl.conversations.list()).items).toEqual([])
  await collect(events)
  expect(model.received).toHaveLength(1)
})

test("leaving the iteration does not stop the run, and a stream resumes after any event without gaps or duplicates", async () => {
  await using pawl = await open(scripted(calls("look"), says("It is a cat.", { chunks: 4 })))
  let last = ""
  let id = ""
  const seen: PawlEvent[] = []
  for await (const event of pawl.stream("What is there?")) {
    last = event.id
    seen.push(event)
    if (event.type === "tool_start") break
  }
  ;[{ id } = { id: "" }] = (await pawl.conversations.list()).items
  const answer = await pawl.answer(id)
  expect(answer.text).toBe("It is a cat.")
  const enough = new AbortController()
  for await (const event of pawl.conversations.events(id, { after: last, signal: enough.signal })) {
    seen.push(event)
    if (event.type === "done") enough.abort()
  }
  const rows = seen
    .filter(({ type }) => !["text_delta", "usage", "done"].includes(type))
    .map((event) => Number(event.id))
  expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b))
  expect(rows.at(-1)).toBe(Number(answer.cursor))
})

test("an invalid position is refused, and closing ends all streams", async () => {
  const pawl = await open(scripted(hangs("So far")))
  const events = pawl.stream("Go.")
  for (let next = await events.next(); !next.done; next = await events.next()) {
    if (next.value.type === "text_delta") break
  }
  const [conversation] = (await pawl.conversations.list()).items
  const ahead = pawl.conversations.events(conversation!.id, { after: "999" })
  await expect(ahead.next()).rejects.toThrow(/after: "999" is no place/)
  const watching = (async () => {
    for await (const _ of pawl.conversations.events(conversation!.id)); // until it is closed
  })()
  await Promise.all([expect(events.next()).rejects.toSatisfy((e) => hasCode(e, "draining")), pawl.close()])
  await watching
})

describe("partial answers", () => {
  const answers = z.object({ city: z.string(), days: z.array(z.number()) })
  const json = '{"city":"Rome","days":[1,23]}'

  test("follow the text of the reply, and end with the whole answer", async () => {
    await using pawl = await open(scripted(says(json, { chunks: json.length })))
    const { told, answer } = await collect(pawl.stream("Where?", { answers }))
    const partials = told.flatMap((event) => (event.type === "partial" ? [event.data.value] : []))
    expect(partials.at(-1)).toEqual({ city: "Rome", days: [1, 23] })
    expect(answer).toMatchObject({ status: "answered", value: { city: "Rome", days: [1, 23] } })
    expect(told.findLast(({ type }) => type === "partial")?.id).toBe(
      told.findLast(({ type }) => type === "text_delta")?.id,
    )
  })

  test("start over with a corrected reply", () => {
    const partials = new PartialAnswers()
    const say = (text: string) => partials.read({ id: "3.1", type: "text_delta", data: { text } })?.data.value
    expect(say('{"city":"Ro')).toEqual({ city: "Ro" })
    expect(say("me\\u00")).toEqual({ city: "Rome" })
    partials.read({ id: "3", type: "restarted", data: { because: "crash", at: "" } })
    expect(say('{"city":"Ber')).toEqual({ city: "Ber" })
  })

  test.each([
    ['{"a":"b', '{"a":"b"}'],
    ['{"a":"b","c', '{"a":"b"}'],
    ['{"a":"b","c":', '{"a":"b"}'],
    ['{"a":12', "{}"],
    ['{"a":12,', '{"a":12}'],
    ['{"a":[tru', '{"a":[]}'],
    ['[{"a":{"b":[1,2', '[{"a":{"b":[1]}}]'],
    ['["x\\', '["x"]'],
    ['["x\\u12', '["x"]'],
    ['["x\\\\', '["x\\\\"]'],
    ['```json\n{"a":"]}"', '{"a":"]}"}'],
    ['{"a":1} and more }', '{"a":1}'],
    ["no object", undefined],
    ["[}", undefined],
    ["[".repeat(65), undefined],
  ])("complete %s", (text, complete) => {
    expect(completeJson(text)).toBe(complete)
    if (complete !== undefined) expect(() => void JSON.parse(complete)).not.toThrow()
  })

  test("every beginning of an answer completes to JSON", () => {
    const whole = JSON.stringify(
      { 'a"\\': ["\u0000é😀", -1.5e3, null, { b: [[], {}], "]": true }], c: "\n{[,:" },
      null,
      1,
    )
    for (let end = whole.indexOf("{") + 1; end <= whole.length; end++)
      expect(() => void JSON.parse(completeJson(whole.slice(0, end)) ?? "")).not.toThrow()
    expect(completeJson(whole)).toBe(whole)
  })

  test("are read in time linear in the length of the reply", () => {
    const partials = new PartialAnswers()
    const read = () => partials.read({ id: "3.1", type: "text_delta", data: { text: '"x",' } })
    partials.read({ id: "3.1", type: "text_delta", data: { text: "[" } })
    let parsed = 0
    for (let pieces = 0; pieces < 60_000; pieces++) if (read()) parsed++
    expect(parsed).toBeLessThan(2000) // and none after 200,000 characters
  })
})

test("the guide describes each event of a stream", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/library.md"), "utf8")
  const table = guide.split("| event | when |")[1]?.split("\n\n")[0] ?? ""
  const described = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type)
  expect(described.toSorted()).toEqual([...Object.keys(frames), "partial"].toSorted())
})
