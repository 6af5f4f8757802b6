import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, hangs, replies, says } from "../../../core/models/scripted/script.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { conversationIdOfKey } from "../../../core/server/conversation/idempotency-keys.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type Era, ERAS, mcpAs, type McpPerson } from "../mcp-client.ts"
import { TurnedClock } from "../../support/loop/world.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

const DAY_MS = 24 * 60 * 60 * 1000
const [database] = anyDatabase

describe.each(ERAS)("a request over MCP, protocol %s,", (era) => {
  const clock = new TurnedClock()
  let face: Face
  let ada: McpPerson
  let native: Visitor
  let current: ScriptedModel
  /** Resolves when the model is called. */
  let heard = Promise.withResolvers<void>()

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const ask = (message: string, more: object = {}, options?: object) =>
    ada.call("ask_agent", { message, agent: "test", ...more }, options)
  const newest = async () => (await native.get("/api/conversations?limit=1")).body.items[0].id as ConversationId
  const runOf = async (id: string) => (await native.get(`/api/conversations/${id}/runs`)).body.items[0]

  beforeAll(async () => {
    const model: Model = {
      ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
      stream(request, signal) {
        heard.resolve()
        return current.stream(request, signal)
      },
    }
    face = await Face.open({ url: (await database!.create()).url, model, clock })
    ada = await mcpAs(face, "ada", era)
    native = await face.as("ada")
    return async () => {
      await ada[Symbol.asyncDispose]()
      await face[Symbol.asyncDispose]()
    }
  })
  beforeEach(() => {
    plays(always(says("Four of them.")))
    heard = Promise.withResolvers()
  })

  test("reports its progress to a client that asks for it", async () => {
    const told: (string | undefined)[] = []
    plays(calls("list_tasks"), says("Four."))
    const onprogress = ({ message }: { message?: string }) => void told.push(message)
    expect((await ask("How many?", { agent: "workspace" }, { onprogress })).facts.answer).toBe("Four.")
    expect(told[0]).toBe("Working on it.")
    expect(told).toContain("Uses list_tasks.")
  })

  test("with a key happens once, and a repeated request returns the current state", async () => {
    plays(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    const asked = { agent: "workspace", key: "k" }
    const first = await ask("milk", asked)
    expect(await ask("milk", asked)).toEqual(first)
    await native.post(`/api/agent/proposals/${first.facts.proposals[0].id}/commit`)
    await face.pawl.runtime.rest(first.facts.conversation)
    const again = await ask("milk", asked)
    expect(again.facts).toMatchObject({ run: first.facts.run, status: "completed", proposals: [], answer: "Done." })
    expect((await ask("bread", asked)).facts.code).toBe("key_reused")
    expect(current.received).toHaveLength(2)
    clock.shift(DAY_MS + 1)
    expect((await ask("milk", asked)).facts.code).toBe("key_reused")
  })

  test("with a key resumes after a crash between creating the conversation and storing the message", async () => {
    const user = (await native.get("/api/auth/me")).body.user.id
    const begun = (key: string) =>
      face.pawl.runtime.begin({ user, agent: "test", id: conversationIdOfKey(user, `mcp ${key}`) })
    await begun("other")
    expect((await ask("One", { key: "other", agent: "workspace" })).facts.code).toBe("key_reused")
    const { id } = await begun("died")
    expect((await ask("One", { key: "died" })).facts).toMatchObject({ conversation: id, answer: "Four of them." })
  })

  test("sent twice at once with one key is one run", async () => {
    const both = await Promise.all([ask("One", { key: "twice" }), ask("One", { key: "twice" })])
    expect(both[0]).toEqual(both[1])
    expect(current.received).toHaveLength(1)
  })

  test("stops when it is cancelled", async () => {
    plays(replies(says("Half"), hangs()))
    const cancel = new AbortController()
    const asked = ask("One", {}, { signal: cancel.signal }).catch((error: Error) => error)
    await heard.promise
    const id = await newest()
    const over = face.pawl.runtime.rest(id)
    cancel.abort()
    expect(await asked).toBeInstanceOf(Error)
    await over
    expect((await runOf(id)).status).toBe("cancelled")
  })

  test("stops when it is cancelled before its run is known", async () => {
    plays(replies(says("Half"), hangs()))
    const { runtime } = face.pawl
    const begin = runtime.begin.bind(runtime)
    const cancel = new AbortController()
    const over = Promise.withResolvers<ConversationId>()
    runtime.begin = async (...given) => {
      const begun = await begin(...given)
      void runtime.rest(begun.id).then(() => over.resolve(begun.id))
      cancel.abort()
      return begun
    }
    const asked = ask("One", {}, { signal: cancel.signal }).catch((error: Error) => error)
    const id = await over.promise.finally(() => (runtime.begin = begin))
    expect((await runOf(id)).status).toBe("cancelled")
    expect(await asked).toBeInstanceOf(Error)
  })

  test("to a busy conversation is refused, and stops nothing", async () => {
    plays(replies(says("Half"), hangs()))
    const id = await native.begin({ agent: "test" })
    const busy = native.say(id, "One")
    await heard.promise
    expect((await ada.call("ask_agent", { message: "Two", conversation: id })).facts.code).toBe("busy")
    expect((await runOf(id)).status).toBe("running")
    await native.post(`/api/conversations/${id}/cancel`)
    await busy
  })

  test("stops when its token is revoked", async () => {
    plays(replies(says("Half"), hangs()))
    const other = await mcpAs(face, "ada", era)
    const asked = other.call("ask_agent", { message: "One", agent: "test" }).catch((error: Error) => error)
    await heard.promise
    const id = await newest()
    const over = face.pawl.runtime.rest(id)
    await native.delete(`/api/tokens/${other.tokenId}`)
    await over
    expect((await runOf(id)).status).toBe("cancelled")
    await asked
    await expect(other.call("list_agents")).rejects.toThrow()
  })
})

test("a disconnect cancels only with the 2026 protocol and without a key", async () => {
  const script = scripted(always(says("Four of them.")))
  const goOn = Promise.withResolvers<void>()
  let heard = Promise.withResolvers<void>()
  const model: Model = {
    ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
    async *stream(request, signal) {
      heard.resolve()
      const stopped = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
      await Promise.race([goOn.promise, stopped])
      yield* script.stream(request, signal)
    },
  }
  await using face = await Face.open({ url: (await database!.create()).url, model })
  const native = await face.as("ada")
  const hungUp = async (era: Era, more: object = {}) => {
    heard = Promise.withResolvers()
    const ada = await mcpAs(face, "ada", era)
    const cancel = new AbortController()
    const input = { message: "How many?", agent: "test", ...more }
    const asked = ada.call("ask_agent", input, { signal: cancel.signal }).catch((error: Error) => error)
    await heard.promise
    const id = (await native.get("/api/conversations?limit=1")).body.items[0].id as ConversationId
    const over = face.pawl.runtime.rest(id)
    // The 2025 protocol sends a cancel message; here the client disconnects instead.
    if (era === "legacy") await ada[Symbol.asyncDispose]()
    else cancel.abort()
    await asked
    const ended = async () => (await native.get(`/api/conversations/${id}/runs`)).body.items[0].status as string
    return { over, ended }
  }
  const legacy = await hungUp("legacy")
  const keyed = await hungUp("2026-07-28", { key: "k" })
  // The last disconnect: the effect of a cancel before it would be visible when this run has ended.
  const plain = await hungUp("2026-07-28")
  await plain.over
  expect(await plain.ended()).toBe("cancelled")
  goOn.resolve()
  await Promise.all([legacy.over, keyed.over])
  expect([await legacy.ended(), await keyed.ended()]).toEqual(["completed", "completed"])
})
