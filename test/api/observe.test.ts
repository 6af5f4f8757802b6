import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Answer, defineTool, openPawl, type PawlEvent } from "../../core/index.ts"
import { calls, hangs, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"

const look = defineTool({
  ...{ name: "look", description: "Looks.", effect: "read" as const },
  input: z.object({}),
  run: () => "A cat.",
})
const pay = defineTool({
  ...{ name: "pay", description: "Pays.", effect: "write" as const },
  input: z.object({}),
  run: () => "Paid.",
})

async function collect(events: AsyncGenerator<PawlEvent, Answer, undefined>) {
  const seen: PawlEvent[] = []
  for (;;) {
    const { done, value } = await events.next()
    if (done)
      return { seen, types: seen.map(({ type }) => type).filter((type) => type !== "text_delta"), answer: value }
    seen.push(value)
  }
}

describe.each(databases)("observing on $name", ({ create }) => {
  async function openTwo(model: ReturnType<typeof scripted>) {
    const database = await create()
    const open = () => openPawl({ store: database.url, models: model, agents: [{ name: "a", tools: [look, pay] }] })
    const [here, there] = [await open(), await open()]
    return {
      ...{ here, there },
      async [Symbol.asyncDispose]() {
        await Promise.all([here.close(), there.close()])
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test("a run of another process yields its events from the beginning, through a pause to its end", async () => {
    await using two = await openTwo(scripted(calls("look"), calls("pay"), says("Paid a cat.")))
    const asked = await two.here.ask("Go.")
    const observing = two.there.observe(asked.runId)
    const before: string[] = []
    while (before.at(-1) !== "done") {
      const { done, value } = await observing.next()
      before.push(done ? value.status : value.type)
    }
    const { items } = await two.here.proposals.list({ status: "pending" })
    await two.here.proposals.approve(items[0]?.id ?? "")
    const { types, answer } = await collect(observing)
    const reads = ["message", "tool_start", "tool_end"]
    const writes = ["message", "awaiting_confirmation", "usage", "done", "decision", "tool_start", "tool_end"]
    const all = ["run_started", "message", ...reads, ...writes, "message", "run_ended", "usage", "done"]
    expect([...before, ...types]).toEqual(all)
    expect(answer).toMatchObject({ status: "answered", text: "Paid a cat.", runId: asked.runId })
    const afterwards = await collect(two.there.observe(asked.runId))
    expect(afterwards.types.filter((type) => type === "done")).toEqual(["done"]) // its pause is over
  })

  test("continues after any event without gaps or duplicates", async () => {
    await using two = await openTwo(scripted(calls("look"), says("A cat, surely.", { chunks: 3 })))
    const { runId, conversationId } = await two.here.ask("What is there?")
    const all = await collect(two.there.observe(conversationId))
    const stored = (events: readonly PawlEvent[]) =>
      events.filter(({ id, type }) => /^\d+$/.test(id) && type !== "done")
    const rows = stored(all.seen).filter(({ type }) => type !== "usage")
    for (const { id } of rows) {
      const { seen, answer } = await collect(two.there.observe(runId, { after: id }))
      const rest = rows.filter((row) => Number(row.id) > Number(id))
      expect(stored(seen).filter(({ type }) => type !== "usage")).toEqual(rest)
      expect(answer).toEqual(all.answer)
    }
  })

  test("a previous run is observed apart from the run after it", async () => {
    await using two = await openTwo(scripted(says("One."), says("Two.")))
    const first = await two.here.ask("One?")
    const second = await two.here.ask("Two?", { conversation: first.conversationId })
    const one = await collect(two.there.observe(first.runId, { after: "0" }))
    expect(one.answer).toMatchObject({ runId: first.runId, text: "One." })
    expect(one.types).toEqual(["run_started", "message", "message", "run_ended", "usage", "done"])
    const late = await collect(two.there.observe(first.runId, { after: second.cursor }))
    expect(late).toMatchObject({ seen: [], answer: { text: "One." } })
    expect((await collect(two.there.observe(first.conversationId))).answer).toMatchObject({ text: "Two." })
  })

  test("ends with its signal, and refuses cursors and runs that are not there", async () => {
    await using two = await openTwo(scripted(hangs("So far")))
    const working = two.here.stream("Go.")
    const start = await working.next()
    const runId = !start.done && start.value.type === "run_started" ? start.value.data.runId : ""
    const stop = new AbortController()
    const observing = collect(two.there.observe(runId, { signal: stop.signal }))
    stop.abort(new Error("Enough."))
    await expect(observing).rejects.toThrow("Enough.")
    await expect(two.there.observe(runId, { after: "99" }).next()).rejects.toThrow(/after: "99" is no position/)
    await expect(two.there.observe(runId, { after: "x" }).next()).rejects.toMatchObject({ code: "bad_request" })
    await expect(two.there.observe("run_none").next()).rejects.toMatchObject({ code: "not_found" })
    await two.there.people.create("ada")
    await expect(two.there.as("ada").observe(runId).next()).rejects.toMatchObject({ code: "not_found" })
  })
})
