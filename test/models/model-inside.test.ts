import { describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { streamReply } from "../../core/engine/ask/reply.ts"
import type { Model, ModelRequest, ReplyPart } from "../../core/engine/model.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { SqlBudget } from "../../core/store/journal/budget.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"
import { type Death, dyingAt } from "../support/loop/faults.ts"
import { COST, PRICE, USAGE } from "../support/loop/priced.ts"
import { read } from "../support/loop/tools.ts"
import { openWorld, type WorldOptions } from "../support/loop/world.ts"

/** Calls `think` twice at once for a message, answers inside it, and then repeats the results. */
class Thinker implements Model {
  readonly name = "thinker"
  readonly provider = "test"
  readonly contextTokens = 100_000
  readonly price = PRICE
  readonly requests: ModelRequest[] = []
  /** The highest number of concurrent replies inside tools. */
  most = 0
  #inside = 0
  /** The inner replies wait for this promise. */
  hold: Promise<unknown> | undefined

  async *stream(request: ModelRequest): AsyncGenerator<ReplyPart> {
    this.requests.push(request)
    const last = request.history.at(-1)
    if (request.system === "inside") {
      this.most = Math.max(this.most, ++this.#inside)
      await (this.hold ?? new Promise((resolve) => setImmediate(resolve)))
      this.#inside--
      yield { type: "text", text: "thought" }
      return yield { type: "finish", finish: "stop", usage: USAGE }
    }
    if (last?.role === "user") {
      for (const q of ["a", "b"]) yield { type: "call", name: "think", input: JSON.stringify({ q }) }
      return yield { type: "finish", finish: "calls", usage: USAGE }
    }
    yield { type: "text", text: last?.role === "tool" ? last.results.map(({ text }) => text).join(" ") : "" }
    yield { type: "finish", finish: "stop", usage: USAGE }
  }
}

const think = read("think", async (_, context) => {
  const request = { system: "inside", history: [{ role: "user", text: "?" }], tools: [], toolChoice: "none" } as const
  let text = ""
  await streamReply({ model: await context.model(), request, signal: context.signal }, (part) => {
    if (part.type === "text") text += part.text
  })
  return answer(text)
})

async function open(url: string, options: { runUsd?: number; between?: WorldOptions["between"] } = {}) {
  const { runUsd, between } = options
  const model = new Thinker()
  const store = await openStore({ url, durability: "normal" })
  const budget = new SqlBudget(store.engine, { runUsd: runUsd ?? 100, now: () => systemClock.now() })
  const world = await openWorld({ url, model, tools: [think], budget, ...(between ? { between } : {}) })
  const spent = async () => {
    const sql =
      "SELECT count(*) AS n, coalesce(sum(cost), 0) AS cost, (SELECT count(*) FROM reservation) AS held FROM usage"
    const [row] = await store.engine.query<{ n: number; cost: number; held: number }>(sql, [])
    return { calls: Number(row?.n), cost: Number(row?.cost) / 1_000_000, held: Number(row?.held) }
  }
  const close = async () => {
    await world[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
  return { world, model, spent, [Symbol.asyncDispose]: close }
}

describe.each(anyDatabase)("a model inside a tool on $name", ({ create }) => {
  test("is counted in the same usage: in the journal, in the run, and in the totals", async () => {
    await using database = await create()
    await using opened = await open(database.url)
    const { world, model, spent } = opened
    const id = await world.begin("Go.")
    const { run } = await world.load(id)
    expect(run).toMatchObject({ status: "completed", usage: { inputTokens: 4000, outputTokens: 400, cost: 4 * COST } })
    const steps = (await world.events(id)).filter(({ type }) => type === "step")
    expect(steps).toMatchObject([
      {
        step: "asked_model",
        detail: { tool: "think" },
        asked: { model: "thinker", usage: { inputTokens: 1000, cost: COST } },
      },
      { step: "asked_model" },
    ])
    expect(await spent()).toEqual({ calls: 4, cost: 4 * COST, held: 0 })
    // A conversation has one reservation at a time: the second call waits for the first.
    expect(model.most).toBe(1)
  })

  test("is under the same ceiling: a call over it is not sent", async () => {
    await using database = await create()
    // Enough for the first reply and one call inside; a call may cost a third of a dollar.
    await using opened = await open(database.url, { runUsd: 0.328 + COST * 1.5 })
    const { world, model, spent } = opened
    const id = await world.begin("Go.")
    expect((await world.load(id)).run?.error?.code).toBe("over_budget")
    expect(model.requests).toHaveLength(2)
    expect(await world.results(id)).toEqual(["ok", "error"])
    expect(await spent()).toEqual({ calls: 2, cost: 2 * COST, held: 0 })
  })

  test("is stopped by a cancel, leaves nothing in the journal, and is charged for its input", async () => {
    await using database = await create()
    await using opened = await open(database.url)
    const { world, model, spent } = opened
    const never = Promise.withResolvers<void>()
    model.hold = never.promise
    const { id } = await world.start("Go.")
    while (model.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).run?.status).toBe("cancelled")
    expect(await world.results(id)).toEqual(["cancelled", "cancelled"])
    expect((await world.types(id)).includes("step")).toBe(false)
    while ((await spent()).held > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await spent()).calls).toBe(2)
    never.resolve()
  })

  test("survives a crash at any write: the run ends, each call has one result, no reservation stays", async () => {
    for (let at = 1; at < 20; at++) {
      await using database = await create()
      const death: Death = { at, when: at % 2 ? "before" : "after" }
      let dying: ReturnType<typeof dyingAt> | undefined
      const first = await open(database.url, { between: (journal) => (dying = dyingAt(death, journal)) })
      const begun = await first.world.start("Go.").then(
        ({ id }) => id,
        () => undefined,
      )
      if (begun) await first.world.pawl.runtime.rest(begun)
      const died = dying?.dead === true
      await first[Symbol.asyncDispose]()
      if (!died) return
      if (!begun) continue
      await using second = await open(database.url)
      await second.world.pawl.runtime.recover()
      await second.world.pawl.runtime.rest(begun)
      expect((await second.world.load(begun)).run?.status).toBe("completed")
      expect(await second.world.results(begun)).toEqual(["ok", "ok"])
      expect((await second.spent()).held).toBe(0)
    }
  }, 120_000)
})
