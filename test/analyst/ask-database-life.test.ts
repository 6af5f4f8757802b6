import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { says } from "../../core/models/scripted/script.ts"
import { queryLimits } from "../../packs/analyst/database/sql-guards.ts"
import { askDatabase } from "../../packs/analyst/tools/ask-database.ts"
import { type ReadableDatabases, grounding } from "../../packs/analyst/tools/grounding.ts"
import type { ConnectionView } from "../../core/protocol/databases/connections.ts"
import { newId } from "../../core/protocol/ids.ts"
import { openStore } from "../../core/store/store.ts"
import { analystModel, wantsSql } from "./analyst-model.ts"
import { anyDatabase } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { Face } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"
import { message, openWorld, type WorldOptions } from "../support/loop/world.ts"

const connectionId = newId("conn")
const view = { id: connectionId, name: "Shop", kind: "sqlite" } as ConnectionView

/** A database that is always available. */
const ready: ReadableDatabases = {
  find: async () => view,
  list: async () => ({ items: [view], nextCursor: null }),
  narrow: async () => ({ markdown: "## customer", tables: 1, shown: 1, names: ["customer"], readAt: "" }),
  query: async () => ({ columns: [{ name: "n", type: null }], rows: [[2]], truncated: false }),
}

async function open(url: string, between?: WorldOptions["between"]) {
  const store = await openStore({ url, durability: "normal" })
  const model = analystModel(says("SELECT count(*) AS n FROM customer"), says("SELECT count(*) AS n FROM customer"))
  const tools = [askDatabase({ databases: ready, results: store.results })]
  const agent = { ground: grounding(ready, systemClock) }
  const world = await openWorld({ url, model, tools, agent, ...(between ? { between } : {}) })
  const close = async () => {
    await world[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
  return { world, model, [Symbol.asyncDispose]: close }
}

describe.each(anyDatabase)("ask_database on $name", ({ create }) => {
  test(
    "resumes after a crash at any write with one result, its state and its source rows",
    {
      timeout: 120_000,
    },
    async () => {
      for (let at = 2; ; at++) {
        await using database = await create()
        let dying: ReturnType<typeof dyingAt> | undefined
        const first = await open(database.url, (journal) => {
          return (dying = dyingAt({ at, when: at % 2 ? "before" : "after" }, journal))
        })
        const { runtime } = first.world.pawl
        const { id } = await runtime.begin({ user: first.world.user, agent: "test", connectionId })
        await runtime.submit(id, message("How many customers?")).catch(() => {})
        await runtime.rest(id)
        await first[Symbol.asyncDispose]()

        await using second = await open(database.url)
        const { world } = second
        if ((await world.load(id)).run === undefined) await world.send(id, "How many customers?")
        await world.pawl.runtime.recover()
        await world.pawl.runtime.rest(id)
        const { run, state, connectionId: chosen } = await world.load(id)
        expect([run?.status, chosen], `death at write ${at}`).toEqual(["completed", connectionId])
        expect(await world.results(id)).toEqual(["ok"])
        const { resultId, rows } = state.sqlResult as { resultId: never; rows: unknown }
        expect(rows).toEqual([[2]])
        expect((await world.store.results.find(world.user, resultId))?.rows).toEqual([[2]])
        for (const { request } of second.model.received) expect(request.system).toContain("## customer")
        if (!dying?.dead) break
      }
    },
  )

  test("a cancel stops the running statement long before its time limit", { timeout: 120_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    mkdirSync(join(root, "shared"))
    makeShop(join(root, "shared", "shop.db"))
    const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    const model = analystModel(says(endless), says("SELECT 1"))
    // The statement's time limit is longer than the timeout of this test.
    const limits = { ...queryLimits, seconds: 600 }
    await using face = await Face.open({ url: (await create()).url, model, sqliteRoot: root, queryLimits: limits })
    const ada = await face.as("ada")
    const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
    const id = await ada.begin({ agent: "analyst", connectionId: body.id })
    const saying = ada.say(id, "Count for ever.")
    const written = async () => {
      const { messages } = (await ada.get(`/api/conversations/${id}`)).body
      return messages.length > 1 && model.received.some(({ request }) => wantsSql(request))
    }
    while (!(await written())) await new Promise((resolve) => setTimeout(resolve, 10))
    await new Promise((resolve) => setTimeout(resolve, 300)) // into the statement itself
    expect((await ada.post(`/api/conversations/${id}/cancel`)).body).toEqual({ cancelled: true })
    expect((await saying).body.run.status).toBe("cancelled")
    // The database is free again: it answers the next statement at once.
    await ada.post(`/api/connections/${body.id}/query`, { sql: "SELECT 1" })
    const { body: state } = await ada.get(`/api/conversations/${id}/state`)
    expect(state.toolHistory).toMatchObject([{ name: "ask_database", status: "cancelled" }])
    expect(model.received.filter(({ request }) => wantsSql(request))).toHaveLength(1)
  })
})
