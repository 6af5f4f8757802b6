import { describe, expect, test } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import type { DeviceFilters } from "../../core/protocol/socket.ts"
import { tableNames } from "../../core/protocol/workspace-tables.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"

const ROWS = 250

/** A person with many tasks of one timestamp, and the queries that the database gets. */
async function setUp(create: (typeof databases)[number]["create"]) {
  const place = await create()
  const store = await openStore({ url: place.url, durability: "normal" })
  const { id: user } = await store.people.ensure("ada", 0)
  const ids = Array.from({ length: ROWS }, (_, i) => `task_${String(i).padStart(4, "0")}`)
  const sql = "INSERT INTO task (id, person, title, status, priority, created_at) VALUES (?, ?, 'T', 'todo', 'low', 1)"
  const mark = "INSERT INTO tainted_row (person, place, id, taint, created_at) VALUES (?, '', ?, 'untrusted', 0)"
  const statements = ids.flatMap((id) => [
    { sql, values: [id, user] },
    { sql: mark, values: [user, id] },
  ])
  await store.engine.change({ type: "statements", statements })
  const asked: { readonly sql: string; readonly values: readonly unknown[] }[] = []
  const query = store.engine.query.bind(store.engine)
  store.engine.query = async <Row>(sql: string, values: readonly unknown[]) => {
    asked.push({ sql, values })
    return query<Row>(sql, values)
  }
  const plans = async () => {
    const found = new Map<string, string>()
    for (const { sql, values } of asked) {
      const steps = await query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
      found.set(sql, steps.map(({ detail }) => detail).join("; "))
    }
    return found
  }
  return {
    ...{ store, user, ids, plans },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** Tables that hold few rows for each person, so that sorting them for a page costs little. */
const FEW = ["shared_run", "token", "session", "device", "issuer_identity", "provider_key", "connection", "collection"]

async function exported(store: Store, user: UserId) {
  const lines = []
  for await (const line of store.retention.exportOf(user)) lines.push(line)
  return lines as { kind: string; id: string }[]
}

describe.each(databases)("on $name", ({ name, create }) => {
  test("an export has each row once, also if pages end among rows of one timestamp", async () => {
    await using world = await setUp(create)
    const lines = await exported(world.store, world.user)
    for (const kind of ["task", "tainted_row"])
      expect(lines.filter((line) => line.kind === kind).map(({ id }) => id)).toEqual(world.ids)
  })

  test.runIf(name === "sqlite")("an export sorts no table that may hold many rows of a person", async () => {
    await using world = await setUp(create)
    await exported(world.store, world.user)
    // Proposals are a union of a few lists, each of them bounded.
    const plans = [...(await world.plans())].filter(([sql]) => !sql.includes("UNION ALL"))
    const sorted = plans.flatMap(([sql, plan]) =>
      plan.includes("USE TEMP B-TREE FOR ORDER BY") ? (/ FROM (\w+)/.exec(sql)?.[1] ?? sql) : [],
    )
    const isFew = (table: string) => FEW.includes(table) || table.startsWith("mcp_")
    expect([...new Set(sorted)].filter((table) => !isFew(table))).toEqual([])
  })

  test.runIf(name === "sqlite")("a list finds its rows by their ids, without sorting", async () => {
    await using world = await setUp(create)
    const workspace = world.store.workspaceOf(world.user)
    const all: DeviceFilters[] = [{}, { search: "t" }]
    for (const table of tableNames) for (const filters of all) await workspace.page(table, filters, { limit: 100 })
    await workspace.page("tasks", { orderBy: "title" }, { limit: 100 })
    await workspace.page("tasks", { projectId: "proj_1" }, { limit: 100 })
    const plans = await world.plans()
    for (const [sql, plan] of plans) {
      expect(plan, sql).not.toContain("TEMP B-TREE")
      if (sql.includes(" id IN (")) expect(plan, sql).toContain("(id=?)")
    }
    expect([...plans.keys()].filter((sql) => sql.includes(" id IN ("))).not.toEqual([])
  })

  test.runIf(name === "sqlite")(
    "a page of the audit starts where the previous one ended, without reading that again",
    async () => {
      await using world = await setUp(create)
      await world.store.audit.list(world.user, { cursor: "5.audit_1", limit: 10 })
      for (const [sql, plan] of await world.plans())
        expect(plan, sql).toContain("(user_id=? AND (applied_at,id)<(?,?))")
    },
  )
})
