import { describe, expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { answer } from "../../../core/engine/definition/tool.ts"
import { calls, fails, hangs, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { AuditId, ConversationId } from "../../../core/protocol/ids.ts"
import { newId } from "../../../core/protocol/ids.ts"
import { of, openChecked, repliesOf } from "../../support/loop/checked-world.ts"
import { databases } from "../../support/databases.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { asksForSummary } from "../summaries.ts"
import { write } from "../../support/loop/tools.ts"
import { message, type World } from "../../support/loop/world.ts"

/** Answers each message with its own text, fails if the text says so, and sums up. */
const echo = () => {
  let failures = 0
  return scripted(
    always((request) => {
      if (asksForSummary(request)) return says("They spoke.")
      const last = request.history.findLast((turn) => turn.role === "user" && !turn.isNote)
      const text = last?.role === "user" ? last.text : ""
      if (text === "Fail." && failures++ === 0) return fails("provider_error")
      return text === "Hang." ? hangs("Once") : says(`To: ${text}`)
    }),
  )
}

const compact = (world: World, id: ConversationId) => world.pawl.runtime.submit(id, { type: "compact", by: world.user })
const resume = (world: World, id: ConversationId) => world.pawl.runtime.submit(id, { type: "resume", by: world.user })
const summaries = async (world: World, id: ConversationId) =>
  of(await world.events(id), "compaction").filter(({ what }) => what === "summary")

/** A conversation in the middle of its second reply. */
async function whileItAnswers(world: World, model: PacedModel): Promise<ConversationId> {
  const { id } = await world.start("First?")
  model.write("One.").end()
  await world.pawl.runtime.rest(id)
  await world.pawl.runtime.submit(id, message("Second?"))
  await expect.poll(() => model.requests.length).toBe(2)
  return id
}

/** A conversation that was stopped during its answer, with a message that waits. */
async function stopped(world: World, waits: string): Promise<ConversationId> {
  const id = await world.begin("First?")
  await world.pawl.runtime.submit(id, message("Hang."))
  await world.pawl.runtime.submit(id, message(waits))
  await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
  await world.pawl.runtime.rest(id)
  expect((await world.load(id)).run).toMatchObject({ status: "cancelled" })
  return id
}

describe.each(databases)("a run that only sums up, on $name,", ({ create }) => {
  test("takes in no message that arrives behind it: such messages are answered afterwards", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openChecked({ url: database.url, model })
    const id = await whileItAnswers(world, model)
    await compact(world, id)
    await world.pawl.runtime.submit(id, message("Third?"))
    model.write("Two.").end().write("They spoke.").end().write("Three.").end()
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toEqual(["One.", "Two.", "Three."])
    expect(await summaries(world, id)).toHaveLength(1)
    expect((await world.load(id)).inbox).toEqual([])
  })

  test("leaves a failed run to be resumed, once", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: echo() })
    const id = await world.begin("First?")
    await world.send(id, "Fail.")
    expect((await world.load(id)).run).toMatchObject({ status: "failed" })
    await compact(world, id)
    await world.pawl.runtime.rest(id)
    await resume(world, id)
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toEqual(["To: First?", "To: Fail."])
    expect((await world.load(id)).run).toMatchObject({ status: "completed", compacts: undefined })
    // No run is left to resume.
    await compact(world, id)
    await resume(world, id)
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toHaveLength(2)
  })

  test("leaves a stopped run to be resumed, also if the resume arrives while it works, or if it was stopped itself", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openChecked({ url: database.url, model })
    const id = await whileItAnswers(world, model)
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    for (const stops of [true, false]) {
      const asked = model.requests.length
      await compact(world, id)
      await expect.poll(() => model.requests.length).toBe(asked + 1)
      if (stops) await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      else await resume(world, id)
      if (stops) await world.pawl.runtime.rest(id)
    }
    model.write("They spoke.").end().write("Two.").end()
    await world.pawl.runtime.rest(id)
    expect((await repliesOf(world, id)).at(-1)).toBe("Two.")
    expect((await world.load(id)).run).toMatchObject({ status: "completed", maxIterations: 5 })
  })

  test("that was stopped sums up when it is resumed, if no question is open", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openChecked({ url: database.url, model })
    const id = await whileItAnswers(world, model)
    model.write("Two.").end()
    await world.pawl.runtime.rest(id)
    await compact(world, id)
    await expect.poll(() => model.requests.length).toBe(3)
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).compaction.due).toBeUndefined()
    await resume(world, id)
    model.write("They spoke.").end()
    await world.pawl.runtime.rest(id)
    expect(await summaries(world, id)).toHaveLength(1)
    expect(await repliesOf(world, id)).toEqual(["One.", "Two."])
  })

  test("does not start messages that are held since a stop, and starts later ones", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: echo() })
    const id = await stopped(world, "Held.")
    await compact(world, id)
    await world.pawl.runtime.rest(id)
    expect(await summaries(world, id)).toHaveLength(1)
    expect((await world.load(id)).inbox).toMatchObject([{ input: { text: "Held." } }])
    await world.send(id, "Now.")
    expect((await repliesOf(world, id)).slice(-2)).toEqual(["To: Now.", "To: Held."])
  })

  test("keeps the order of messages after a failure: a held message comes before a later one", async () => {
    await using database = await create()
    const queued = Promise.withResolvers<void>()
    const failing = echo()
    const stream: Model["stream"] = async function* (request, signal) {
      if (request.history.length === 3) await queued.promise
      yield* failing.stream(request, signal)
    }
    await using world = await openChecked({
      url: database.url,
      model: { name: "m", provider: "p", contextTokens: 9000, stream },
    })
    const id = await world.begin("First?")
    await world.pawl.runtime.submit(id, message("Fail."))
    await world.pawl.runtime.submit(id, message("Held."))
    queued.resolve()
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).run).toMatchObject({ status: "failed" })
    await compact(world, id)
    await world.pawl.runtime.rest(id)
    await world.send(id, "Now.")
    const words = of(await world.events(id), "message").filter(({ role }) => role === "user")
    expect(words.slice(-2)).toMatchObject([{ parts: [{ text: "Held." }] }, { parts: [{ text: "Now." }] }])
  })
})

describe.each(databases)("an undo run, on $name,", ({ create }) => {
  /** A conversation with an applied write that can be undone. */
  async function saved(world: World) {
    const id = await world.begin("Save.")
    const [open] = await world.proposals(id)
    await world.decide(id, open!.proposed.id, "commit")
    const inverse = { tool: "save", input: { q: "back" } }
    const auditId = open!.proposed.callId.replace(/^call_/, "aud_") as AuditId
    const undo = { type: "undo", auditId, summary: "Save", callId: newId("call"), inverse, by: world.user } as const
    return { id, undo }
  }

  test("does not start messages that are held since a stop", async () => {
    await using database = await create()
    const model = scripted(calls("save"), says("Saved."), hangs("Once"), says("To: Now."), says("To: Held."))
    const tools = [write("save", () => answer("Saved."))]
    await using world = await openChecked({ url: database.url, model, tools })
    const { id, undo } = await saved(world)
    await world.pawl.runtime.submit(id, message("Hang."))
    await world.pawl.runtime.submit(id, message("Held."))
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    await world.pawl.runtime.submit(id, undo)
    await world.pawl.runtime.rest(id)
    const [open] = await world.proposals(id)
    await world.decide(id, open!.proposed.id, "commit")
    expect((await world.load(id)).run).toMatchObject({ status: "completed", reason: "undo" })
    expect((await world.load(id)).inbox).toMatchObject([{ input: { text: "Held." } }])
    await world.send(id, "Now.")
    expect((await repliesOf(world, id)).slice(-2)).toEqual(["To: Now.", "To: Held."])
  })

  test("is followed by the summary that was requested while it waited", async () => {
    await using database = await create()
    const model = scripted(says("One."), calls("save"), says("Saved."), says("They saved."))
    const tools = [write("save", () => answer("Saved."))]
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("First?")
    await world.send(id, "Save.")
    const [first] = await world.proposals(id)
    await world.decide(id, first!.proposed.id, "commit")
    const inverse = { tool: "save", input: { q: "back" } }
    const auditId = first!.proposed.callId.replace(/^call_/, "aud_") as AuditId
    await world.pawl.runtime.submit(id, {
      ...{ type: "undo", auditId, summary: "Save", callId: newId("call"), inverse, by: world.user },
    })
    await world.pawl.runtime.rest(id)
    await compact(world, id)
    await world.pawl.runtime.rest(id)
    expect(await summaries(world, id)).toEqual([])
    const [open] = await world.proposals(id)
    await world.decide(id, open!.proposed.id, "commit")
    await world.pawl.runtime.rest(id)
    expect(await summaries(world, id)).toMatchObject([{ summary: "They saved." }])
    expect((await world.load(id)).inbox).toEqual([])
  })
})
