import { expect, test } from "vitest"
import { z } from "zod"
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
async function collect(events: AsyncGenerator<PawlEvent, Answer, undefined>) {
  const told: PawlEvent[] = []
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
