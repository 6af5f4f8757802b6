import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Answer, defineTool, hasCode, openPawl, type Pawl, type PawlOptions } from "../../core/index.ts"
import { always, calls, fails, hangs, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

describe.each(anyDatabase)("asking, on $name", ({ create }) => {
  const open = async (models: PawlOptions["models"], more: Partial<PawlOptions> = {}): Promise<Pawl> =>
    openPawl({ store: { url: (await create()).url, durability: "normal" }, models, ...more })

  test("returns the text, and the ids to find it again", async () => {
    await using pawl = await open(scripted(says("Because of Rayleigh.")))
    const answer = await pawl.ask("Why is the sky blue?")
    expect(answer).toMatchObject({ status: "answered", text: "Because of Rayleigh.", finish: "stop" })
    const { items } = await pawl.conversations.messages(answer.conversationId)
    expect(items.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: Why is the sky blue?",
      "assistant: Because of Rayleigh.",
    ])
    expect(await pawl.answer(answer.conversationId)).toEqual(answer)
  })

  test("a script without further replies throws, with what was asked", async () => {
    const model = scripted(says("Ada."))
    await using pawl = await open(model)
    const { conversationId } = await pawl.ask("First name?")
    const error = await pawl.ask("And the last?", { conversation: conversationId }).catch((error: unknown) => error)
    expect(hasCode(error, "script_ended")).toBe(true)
    expect(String(error)).toMatch(/its script has 1, and this is request 2, which ends with .*And the last\?/)
    expect(model.received.map(({ request: { history } }) => history.length)).toEqual([1, 3])
  })

  test("a model that only makes tool calls, even after the round limit, has no text, and the answer says why", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: z.object({}),
      effect: "read",
      run: () => "Seen.",
    })
    const agents = [{ name: "looker", tools: [look] }]
    await using pawl = await open(scripted(always(calls("look"))), { agents })
    const answer = await pawl.ask("Look.", { maxIterations: 2 })
    expect(answer).toMatchObject({ status: "answered", text: "", finish: "calls" })
  })

  test("continues a conversation: the model receives its history", async () => {
    const model = scripted(says("Ada."), says("Lovelace."))
    await using pawl = await open(model)
    const { conversationId } = await pawl.ask("First name?")
    const answer = await pawl.ask("And the last?", { conversation: conversationId })
    expect(answer).toMatchObject({ text: "Lovelace.", conversationId })
    expect(model.received[1]?.history).toHaveLength(3)
  })

  test("with a key is asked once, also at the same time and in another process", async () => {
    const { url } = await create()
    const model = scripted(says("Once."))
    await using pawl = await openPawl({ store: url, models: model })
    await using other = await openPawl({ store: url, models: model })
    const asked = () => pawl.ask("Go.", { key: "order 17" })
    const answers = await Promise.all([asked(), other.ask("Go.", { key: "order 17" }), asked()])
    expect(answers.map(({ text }) => text)).toEqual(["Once.", "Once.", "Once."])
    expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
    expect(await other.ask("Go.", { key: "order 17" })).toMatchObject({ text: "Once." })
    expect(model.received).toHaveLength(1)
    await expect(pawl.ask("Go elsewhere.", { key: "order 17" })).rejects.toSatisfy((e) => hasCode(e, "key_reused"))
  })

  test("in a conversation that another process works on returns that process's answer", async () => {
    const { url } = await create()
    const gate = Promise.withResolvers<string>()
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({}),
      effect: "read",
      run: () => gate.promise,
    })
    const agents = [{ name: "waiter", tools: [wait] }]
    const model = scripted(calls("wait"), says("First."), says("Second."))
    await using pawl = await openPawl({ store: url, models: model, agents })
    const events = pawl.stream("One.")
    let id = ""
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type === "tool_start") break
    }
    ;[{ id } = { id: "" }] = (await pawl.conversations.list()).items
    await using other = await openPawl({ store: url, models: model, agents })
    const second = other.ask("Two.", { conversation: id })
    gate.resolve("Waited.")
    expect(await second).toMatchObject({ status: "answered", text: "Second." })
    expect(await other.answer(id)).toMatchObject({ text: "Second." })
  })

  test("a failed run has a message and a code", async () => {
    await using pawl = await open(scripted(fails("auth")))
    const answer = await pawl.ask("Go.")
    expect(answer).toMatchObject({ status: "failed", text: "" })
    expect((answer as Extract<Answer, { status: "failed" }>).error.code).toBe("auth")
  })

  test("a signal stops the work, and the answer is `cancelled`", async () => {
    await using pawl = await open(scripted(hangs("So far")))
    const stop = new AbortController()
    const events = pawl.stream("Go.", { signal: stop.signal })
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type === "text_delta") break
    }
    stop.abort(new Error("enough"))
    const cancelled = { status: "cancelled", text: "So far" }
    expect(await events.next()).toMatchObject({ done: true, value: cancelled })
    const [conversation] = (await pawl.conversations.list()).items
    expect(await pawl.answer(conversation!.id)).toMatchObject(cancelled)
  })

  test("a signal makes `ask` resolve with `cancelled`; one that was aborted before asks nothing and throws", async () => {
    await using pawl = await open(scripted(hangs("So far")))
    const stop = new AbortController()
    const asked = pawl.ask("Go.", { signal: stop.signal })
    await expect.poll(async () => (await pawl.conversations.list()).items[0]?.status).toBe("running")
    stop.abort()
    const answer = await asked
    expect(answer).toMatchObject({ status: "cancelled" })
    expect((await pawl.conversations.get(answer.conversationId)).status).toBe("active")
    await expect(pawl.ask("Go.", { signal: AbortSignal.abort() })).rejects.toThrow("aborted")
    expect((await pawl.conversations.list()).items).toHaveLength(1)
  })

  test("closing releases the question, and the next process that opens the store answers it", async () => {
    const { url } = await create()
    const first = await openPawl({ store: url, models: scripted(hangs()) })
    const asked = first.ask("Go.", { key: "k" })
    await expect.poll(async () => (await first.conversations.list()).items[0]?.status).toBe("running")
    await Promise.all([expect(asked).rejects.toSatisfy((e) => hasCode(e, "draining")), first.close()])
    await using next = await openPawl({ store: url, models: scripted(says("Late, but here.")) })
    expect(await next.ask("Go.", { key: "k" })).toMatchObject({ status: "answered", text: "Late, but here." })
  })

  test("people cannot see each other's conversations", async () => {
    await using pawl = await open(scripted(says("Yours.")))
    for (const name of ["ada", "bob"]) await pawl.people.create(name)
    const { conversationId } = await pawl.as("ada").ask("Mine?")
    const missing = (error: unknown) => hasCode(error, "not_found")
    await expect(pawl.conversations.get(conversationId)).rejects.toSatisfy(missing)
    await expect(pawl.as("bob").answer(conversationId)).rejects.toSatisfy(missing)
    await expect(pawl.as("bob").ask("Yours?", { conversation: conversationId })).rejects.toSatisfy(missing)
    expect((await pawl.as("ada").conversations.list()).items).toHaveLength(1)
    expect((await pawl.as("bob").conversations.list()).items).toEqual([])
  })

  test("options for a new conversation are refused later", async () => {
    await using pawl = await open(scripted(says("Hello.")))
    const { conversationId } = await pawl.ask("Hi.", { mode: "read-only", title: "Greeting" })
    expect(await pawl.conversations.get(conversationId)).toMatchObject({ mode: "read-only", title: "Greeting" })
    const late = pawl.ask("Hi.", { conversation: conversationId, mode: "auto" })
    await expect(late).rejects.toThrow(/mode: .*conversations\.change/)
    expect(await pawl.conversations.change(conversationId, { mode: "auto" })).toMatchObject({ mode: "auto" })
  })
})

test("an answer that only the program's own schema refuses includes the reason, also as JSON", async () => {
  await using pawl = await openPawl({ store: ":memory:", models: scripted(says('{"part":"bolt"}')) })
  const answers = z.object({ part: z.string() }).refine(() => false, "There is no such part.")
  const answer: unknown = JSON.parse(JSON.stringify(await pawl.ask("Which part?", { answers })))
  expect(answer).toMatchObject({
    status: "failed",
    error: { code: "answer_unfit", message: expect.stringContaining("There is no such part.") as string },
  })
})
