import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Agent, agentTool, type CallContext, defineTool, openPawl } from "../../core/index.ts"
import {
  byAgent,
  byTurn,
  calls,
  crashingStore,
  effectLog,
  type EffectLog,
  givesValue,
  replies,
  says,
  scripted,
  testClock,
  thinks,
} from "../../core/testing.ts"
import { anyDatabase, databases } from "../support/databases.ts"

const DAY = 24 * 60 * 60 * 1000
const script = () => scripted(byTurn(calls("pay", { invoice: "7" }), says("Paid.")))

/** Pays, and records it by the id of the call. `ignoresKnown`: the target ignores a call that it knows. */
const payInto = (paid: EffectLog, afterCrash: "in-doubt" | "run-again" = "in-doubt", ignoresKnown = false) =>
  defineTool({
    ...{ name: "pay", description: "Pays.", effect: "write" as const, input: z.object({ invoice: z.string() }) },
    afterCrash,
    run({ invoice }, { callId }: CallContext) {
      const isKnown = paid.effects.some((effect) => effect.callId === callId)
      if (!(ignoresKnown && isKnown)) paid.record(callId, `paid ${invoice}`)
      return "Paid."
    },
  })

type AgentsTool = NonNullable<Agent["tools"]>[number]

const clerk = (pay: AgentsTool) => [{ name: "clerk", tools: [pay] }]

describe.each(databases)("testing with crashes, on $name", ({ create }) => {
  /** Crashes one instance at the write, lets the next one continue to the end, and returns how it went. */
  async function crashAt(at: number, when: "before" | "after", pay: AgentsTool) {
    await using database = await create()
    const store = crashingStore({ url: database.url, durability: "normal" }, { at, when })
    {
      await using first = await openPawl({ store, models: script(), agents: clerk(pay) })
      await first.ask("Pay 7.", { key: "7", mode: "auto" }).catch(() => {})
    }
    await using next = await openPawl({ store: database.url, models: script(), agents: clerk(pay) })
    const answer = await next.ask("Pay 7.", { key: "7", mode: "auto" })
    if (answer.status === "waiting") for (const { id } of answer.proposals) await next.proposals.resolve(id, "done")
    return { store, answer: await next.answer(answer.conversationId), wasInDoubt: answer.status === "waiting" }
  }

  test.each(["before", "after"] as const)("a call runs at most once, for a crash %s any write", async (when) => {
    const paid = effectLog()
    let doubts = 0
    for (let at = 1; ; at++) {
      const { store, answer, wasInDoubt } = await crashAt(at, when, payInto(paid))
      expect(answer, `crash at ${store.writes.at(-1)}`).toMatchObject({ status: "answered", text: "Paid." })
      paid.check()
      if (wasInDoubt) doubts++
      if (!store.crashed) break
      expect(store.writes).toHaveLength(at)
    }
    expect(doubts).toBeGreaterThan(0)
  })

  test("the log names the effect of a call that ran twice, and none if the target ignores a known call", async () => {
    const [blind, careful] = [effectLog(), effectLog()]
    for (let at = 1; ; at++) {
      await crashAt(at, "before", payInto(careful, "run-again", true))
      const { store } = await crashAt(at, "before", payInto(blind, "run-again"))
      if (!store.crashed) break
    }
    careful.check()
    expect(() => blind.check()).toThrow(/^"paid 7" was done 2 times for one tool call\. .*"in-doubt"/)
  })

  test("an instance that crashes in a tool rejects what waits for it, and writes nothing more", async () => {
    await using database = await create()
    const store = crashingStore(database.url)
    const crash = defineTool({
      ...{ name: "pay", description: "Pays.", effect: "read", input: z.object({}) },
      run: () => (store.crashed ? "Paid." : store.crash()),
    })
    await using first = await openPawl({ store, models: script(), agents: clerk(crash) })
    await expect(first.ask("Pay 7.", { key: "7" })).rejects.toThrow("closed")
    const written = store.writes.length
    await first.close()
    expect([store.crashed, store.writes.length]).toEqual([true, written])
    await using next = await openPawl({ store: database.url, models: script(), agents: clerk(crash) })
    expect(await next.ask("Pay 7.", { key: "7" })).toMatchObject({ status: "answered", text: "Paid." })
  })
})

describe.each(anyDatabase)("testing, on $name", ({ create }) => {
  test("time stands still until the clock advances: then a proposal expires", async () => {
    await using database = await create()
    const clock = testClock(Date.UTC(2030, 0, 1))
    await using pawl = await openPawl({
      ...{ store: database.url, clock, models: script(), agents: clerk(payInto(effectLog())) },
    })
    const asked = await pawl.ask("Pay 7.")
    expect(asked).toMatchObject({ because: "approval", proposals: [{ expiresAt: "2030-01-08T00:00:00.000Z" }] })
    await clock.advance(8 * DAY)
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ because: "expired" })
  })

  test("each agent plays its own script, also several calls of one agent at once", async () => {
    await using database = await create()
    const paid = effectLog()
    const clerk = { name: "clerk", description: "Pays.", tools: [payInto(paid)] }
    const model = scripted(
      byAgent({
        boss: [calls(["ask_clerk", { task: "Pay 7." }], ["ask_clerk", { task: "Pay 8." }]), says("Both are paid.")],
        clerk: [
          ({ history }) => calls("pay", { invoice: JSON.stringify(history).includes("8") ? "8" : "7" }),
          says("Paid."),
        ],
      }),
    )
    const agents = [{ name: "boss", tools: [agentTool(clerk)] }]
    await using pawl = await openPawl({ store: database.url, models: model, agents })
    expect(await pawl.ask("Pay both.", { mode: "auto" })).toMatchObject({ text: "Both are paid." })
    expect(paid.effects.map(({ effect }) => effect).sort()).toEqual(["paid 7", "paid 8"])
    expect(model.received.map(({ request }) => request.agent).sort()).toEqual([
      "boss",
      "boss",
      ...Array(4).fill("clerk"),
    ])
  })

  test("an agent without a script, or with too short a one, is named", async () => {
    await using database = await create()
    const models = scripted(byAgent({ boss: [says("Hello.")] }))
    await using pawl = await openPawl({ store: database.url, models, agents: [{ name: "boss" }, { name: "clerk" }] })
    const { conversationId } = await pawl.ask("Hi.")
    const again = pawl.ask("Again.", { conversation: conversationId })
    await expect(again).rejects.toThrow(/for the agent "boss": its script has 1, and this is request 2, .*Again\./)
    await expect(pawl.ask("Hi.", { agent: "clerk" })).rejects.toThrow(/"clerk": its script has 0/)
  })

  test("a value is replied as JSON, with thinking before it", async () => {
    await using database = await create()
    const models = scripted(replies(thinks("A capital."), givesValue({ city: "Rome" })))
    await using pawl = await openPawl({ store: database.url, models })
    const answer = await pawl.ask("Where?", { answers: z.object({ city: z.string() }) })
    expect(answer).toMatchObject({ status: "answered", value: { city: "Rome" } })
  })

  test("a wrong clock and a wrong crash point are refused with what is expected", async () => {
    await expect(openPawl({ models: script(), clock: {} as never })).rejects.toThrow("clock")
    expect(() => crashingStore("x.db", { at: 0 })).toThrow("the first write is 1")
  })
})

test("a log with a file counts the effects of several processes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "effects-"))
  const file = join(folder, "effects.jsonl")
  expect(effectLog(file).effects).toEqual([])
  effectLog(file).record("call_1", "paid 7")
  effectLog(file).record("call_2", "paid 7")
  effectLog(file).check()
  effectLog(file).record("call_1", "paid 7")
  expect(() => effectLog(file).check()).toThrow('"paid 7" was done 2 times')
  await rm(folder, { recursive: true })
})
