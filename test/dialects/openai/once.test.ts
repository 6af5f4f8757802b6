import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, hangs, replies, says } from "../../../core/models/scripted/script.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { newId } from "../../../core/protocol/ids.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"
import { TurnedClock } from "../../support/loop/world.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

const DAY_MS = 24 * 60 * 60 * 1000
const ask = (content: string, more: object = {}) => ({
  model: "pawl/test",
  messages: [{ role: "user", content }],
  ...more,
})

describe.each(anyDatabase)("requests happen once, and as they were sent, on $name", ({ create }) => {
  const clock = new TurnedClock()
  let face: Face
  let ada: OpenAiPerson
  let native: Visitor
  let current: ScriptedModel
  /** Resolves when the model is called. */
  let heard = Promise.withResolvers<void>()
  /** An error that the store throws when it next reads the state of a conversation. */
  let broken: Error | undefined

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const chat = (body: object, headers: object = {}) => ada.client.chat.completions.create(body, { headers })
  const respond = (body: object, headers: object = {}) =>
    ada.client.responses.create({ model: "pawl/test", ...body }, { headers })
  const read = async (id: string) => (await native.get(`/api/conversations/${id}`)).body
  const begun = async () => (await native.get("/api/conversations?limit=200")).body.items.length as number

  beforeAll(async () => {
    const named = (name: string): Model => ({
      ...{ name, provider: "scripted", contextTokens: 200_000 },
      stream(request, signal) {
        heard.resolve()
        return current.stream(request, signal)
      },
    })
    const { url } = await create()
    face = await Face.open({ url, model: named("scripted"), others: [named("other")], clock })
    ada = await openAiAs(face, "ada")
    native = await face.as("ada")
    const { conversations } = face.store
    const runStart = conversations.runStart.bind(conversations)
    conversations.runStart = async (...asked) => {
      if (!broken) return runStart(...asked)
      const thrown = broken
      broken = undefined
      throw thrown
    }
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void plays(always(says("Four of them."))))

  test("an expired key does not open its old conversation to a different request", async () => {
    const headers = { "idempotency-key": "nightly" }
    const { pawl } = await chat(ask("One"), headers)
    clock.shift(DAY_MS + 1)
    for (const body of [ask("Two"), ask("Two"), ask("One")]) {
      const refused = await refusalOf(chat(body, { ...headers, "x-pawl-writes": "refuse" }))
      expect([refused.status, refused.code]).toEqual([422, "key_reused"])
    }
    expect((await read(pawl.conversation_id)).messages).toHaveLength(2)
  })

  test("a key covers the headers and the route too", async () => {
    const headers = { "idempotency-key": "headers" }
    await chat(ask("One"), headers)
    const refused = await refusalOf(chat(ask("One"), { ...headers, "x-pawl-writes": "refuse" }))
    expect([refused.status, refused.code]).toEqual([422, "key_reused"])
    expect(current.received).toHaveLength(1)
  })

  test("a conversation that a key created before a crash accepts only a request like the first", async () => {
    // The state that a process leaves if it crashes between the two.
    const { conversationIdOfKey } = await import("../../../core/server/conversation/idempotency-keys.ts")
    const user = (await native.get("/api/auth/me")).body.user.id
    const id = conversationIdOfKey(user, "died")
    await face.pawl.runtime.begin({ user, agent: "test", id })
    for (const [body, more] of [
      [ask("One", { model: "pawl/workspace" }), {}],
      [ask("One"), { "x-pawl-writes": "refuse" }],
    ] as const) {
      expect((await refusalOf(chat(body, { "idempotency-key": "died", ...more }))).code).toBe("key_reused")
    }
    const other = conversationIdOfKey(user, "died-2")
    await face.pawl.runtime.begin({ user, agent: "test", id: other })
    expect((await chat(ask("One"), { "idempotency-key": "died-2" })).pawl.conversation_id).toBe(other)
  })

  test("a refused request uses up no key and creates nothing", async () => {
    const headers = { "idempotency-key": "mended" }
    const before = await begun()
    expect((await refusalOf(chat(ask(" "), headers))).status).toBe(400)
    expect((await refusalOf(chat(ask("x", { model: "pawl/test/locked" }), headers))).status).toBe(400)
    expect(await begun()).toBe(before)
    expect((await chat(ask("One"), headers)).choices[0].message.content).toBe("Four of them.")
  })

  test("a refused or repeated request does not change the conversation's model", async () => {
    const first = await respond({ input: "One" })
    const { id } = first.conversation
    const keyed = { input: "Two", previous_response_id: first.id, model: "pawl/test/other" }
    const headers = { "idempotency-key": "model" }
    const second = await respond(keyed, headers)
    expect((await read(id)).model).toBe("other")
    await native.patch(`/api/conversations/${id}`, { model: "scripted" })
    expect((await respond(keyed, headers)).id).toBe(second.id)
    const late = { input: "Three", previous_response_id: first.id, model: "pawl/test/other" }
    expect((await refusalOf(respond(late))).param).toBe("previous_response_id")
    expect((await read(id)).model).toBe("scripted")
  })

  test("a summary or an undo is not a message: the response before it is still the last", async () => {
    const first = await respond({ input: "One" })
    const { id } = first.conversation
    expect((await native.post(`/api/conversations/${id}/compact`)).status).toBeLessThan(300)
    await face.pawl.runtime.rest(id)
    expect((await native.get(`/api/conversations/${id}/runs`)).body.items).toHaveLength(2)
    const second = await respond({ input: "Two", previous_response_id: first.id })
    expect(second.conversation.id).toBe(id)
    expect((await refusalOf(respond({ input: "Three", previous_response_id: first.id }))).status).toBe(400)
  })

  test("of two requests that continue one response, one succeeds", async () => {
    const first = await respond({ input: "One" })
    const both = ["Two", "Three"].map((input) => respond({ input, previous_response_id: first.id }))
    const settled = await Promise.allSettled(both)
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    expect((await read(first.conversation.id)).messages).toHaveLength(4)
    // This message was checked to be the next, and arrives after another one.
    const behind = first.pawl.run_id
    const late = { type: "message", id: newId("msg"), text: "Four", when: "reject", behind } as const
    await expect(face.pawl.runtime.submit(first.conversation.id, late)).rejects.toThrow(/newer messages/)
    expect((await read(first.conversation.id)).messages).toHaveLength(4)
  })

  test("writes need approval even in an automatic conversation, and for a token that may approve", async () => {
    plays(always(calls("create_task", { title: "Buy milk" })))
    const id = await native.begin({ agent: "workspace", mode: "auto" })
    for (const headers of [{}, { "x-pawl-writes": "wait" }]) {
      const answer = await chat(ask("milk", { model: "pawl/workspace" }), { "x-pawl-conversation": id, ...headers })
      expect([answer.pawl.status, answer.pawl.proposals.length]).toEqual(["paused", 1])
    }
    expect((await native.get("/api/workspace/tasks")).body.items).toEqual([])
  })

  test("a repeated request after a decision returns the current state, and no pending change", async () => {
    const headers = { "idempotency-key": "decided" }
    plays(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    const body = ask("milk", { model: "pawl/workspace" })
    const first = await chat(body, headers)
    expect((await chat(body, headers)).choices[0].message.content).toBe(first.choices[0].message.content)
    await native.post(`/api/agent/proposals/${first.pawl.proposals[0].id}/commit`)
    await face.pawl.runtime.rest(first.pawl.conversation_id)
    const again = await chat(body, headers)
    expect([again.id, again.choices[0].message.content]).toEqual([first.id, "Done."])
    expect(again.pawl).toMatchObject({ status: "completed", proposals: [] })
  })

  test("an approval and a message that replaces the pending change race: the first counts, and nothing is applied twice", async () => {
    const model = "pawl/workspace"
    const outcomes = new Set<string>()
    for (const [at, first] of (["yes", "words", "both", "both", "both"] as const).entries()) {
      const title = `Buy ${at}`
      plays(calls("create_task", { title }), always(says("As you like.")))
      const waiting = await respond({ model, input: "milk" })
      const { id } = waiting.pawl.proposals[0]
      const yes = () => native.post(`/api/agent/proposals/${id}/commit`)
      const words = () =>
        respond({ model, input: "Never mind.", previous_response_id: waiting.id }).then(
          () => "said",
          ({ code }) => code as string,
        )
      const early = first === "yes" ? await yes() : first === "words" ? await words() : undefined
      const [agreed, said] = await Promise.all([
        first === "yes" ? (early as Awaited<ReturnType<typeof yes>>) : yes(),
        first === "words" ? (early as string) : words(),
      ])
      await face.pawl.runtime.rest(waiting.conversation.id)
      const { status } = (await native.get(`/api/agent/proposals/${id}`)).body
      outcomes.add(status)
      expect([agreed.status, status]).toEqual(status === "applied" ? [200, "applied"] : [409, "superseded"])
      // Messages that arrive while the change is applied are refused with an error, so none is lost.
      expect(["said", "busy"]).toContain(said)
      if (status === "superseded") expect(said).toBe("said")
      const tasks: { title: string }[] = (await native.get("/api/workspace/tasks")).body.items
      expect(tasks.filter((task) => task.title === title)).toHaveLength(status === "applied" ? 1 : 0)
    }
    expect([...outcomes].sort()).toEqual(["applied", "superseded"])
  })

  test("a client must not retry if that would send the message twice, and may retry with a key", async () => {
    plays(replies(says("Half"), hangs()))
    const stream = await chat(ask("One", { stream: true })).withResponse()
    const id = stream.response.headers.get("x-pawl-conversation")!
    for (const key of [{}, { "idempotency-key": "busy" }]) {
      const busy = await refusalOf(chat(ask("Two"), { "x-pawl-conversation": id, ...key }))
      expect([busy.code, busy.headers.get("x-should-retry")]).toEqual(["busy", "false"])
    }
    await native.post(`/api/conversations/${id}/cancel`)
    plays(always(says("Four of them.")))
    for (const [key, retry] of [
      [{}, "false"],
      [{ "idempotency-key": "lost" }, null],
    ] as const) {
      broken = failure("store_unavailable", { problem: "it is away" })
      const lost = await refusalOf(chat(ask("One"), key))
      expect([lost.code, lost.headers.get("x-should-retry")]).toEqual(["store_unavailable", retry])
    }
    expect((await chat(ask("One"), { "idempotency-key": "lost" })).choices[0].message.content).toBe("Four of them.")
  })

  test.each([
    ["false", {}],
    [null, { "idempotency-key": "hung" }],
  ])(
    "a client that disconnects while it waits leaves nothing queued; `x-should-retry` is %s with %j",
    async (retry, key) => {
      plays(replies(says("Half"), hangs()))
      heard = Promise.withResolvers()
      const hung = new AbortController()
      const body = JSON.stringify(ask("One"))
      const headers = { authorization: `Bearer ${ada.token}`, "content-type": "application/json", ...key }
      const request = new Request("http://localhost/v1/chat/completions", {
        ...{ method: "POST", body, headers: headers as Record<string, string>, signal: hung.signal },
      })
      const asked = face.fetch(request)
      await heard.promise
      hung.abort()
      const answer = await asked
      expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([503, retry])
    },
  )
})
