import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test, vi } from "vitest"
import type { DeviceFilters } from "../../core/protocol/socket.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"

const ROWS = 5000
/** The number of rows that one query may examine before it yields. */
const MOST = 1000
const ALPHABET = "abcdefghijklmnopqrstuvwxyz"

describe.each(databases)("a list of thousands of rows on $name", ({ name, create }) => {
  /** One person with as many tasks; every hundredth is done. */
  async function setUp() {
    const place = await create()
    const store = await openStore({ url: place.url, durability: "normal" })
    const { id: user } = await store.people.ensure("ada", 0)
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const title = `${ALPHABET[(i * 7) % 26]}${ALPHABET[(i * 11) % 26]} ${i}`
      const values = [`task_${i}`, user, title, i % 100 === 0 ? "done" : "todo", "low", i]
      const sql = "INSERT INTO task (id, person, title, status, priority, created_at) VALUES (?, ?, ?, ?, ?, ?)"
      return { sql, values }
    })
    await store.engine.change({ type: "statements", statements: rows })
    const answers: number[] = []
    const { engine } = store
    const query = engine.query.bind(engine)
    engine.query = async <Row>(sql: string, values: readonly unknown[]) => {
      const found = await query<Row>(sql, values)
      answers.push(found.length)
      return found
    }
    const read = async (filters: DeviceFilters, limit = 100) => {
      const titles: string[] = []
      for (let cursor: string | undefined; ;) {
        const page = await store.workspaceOf(user).page("tasks", filters, { limit, cursor })
        titles.push(...page.items.map((row) => (row as unknown as { title: string }).title))
        if (page.nextCursor === null) return titles
        cursor = page.nextCursor
      }
    }
    return {
      ...{ answers, read, titles: rows.map(({ values }) => String(values[2])) },
      async [Symbol.asyncDispose]() {
        vi.restoreAllMocks()
        await store[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  test("is read in portions, whether ordered or filtered, and has each row once in its order", async () => {
    await using world = await setUp()
    const sorted = [...world.titles].sort((one, other) => one.localeCompare(other))
    expect(await world.read({ orderBy: "title" }, 1000)).toEqual(sorted)
    expect(await world.read({ status: "done" })).toEqual(world.titles.filter((_, i) => i % 100 === 0))
    expect(await world.read({ status: "done", orderBy: "title" })).toEqual(
      sorted.filter((title) => Number(title.split(" ")[1]) % 100 === 0),
    )
    expect(Math.max(...world.answers)).toBeLessThanOrEqual(MOST)
    // A query that returns only matching rows examines all rows for it.
    world.answers.length = 0
    await world.read({ status: "done" })
    expect(world.answers.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThanOrEqual(ROWS)
  })

  test.runIf(name === "sqlite")(
    "lets other requests run between its portions, also for many concurrent readers",
    async () => {
      await using world = await setUp()
      // Each reading of the clock finds half of the time slice used.
      let now = performance.now()
      vi.spyOn(performance, "now").mockImplementation(() => (now += 10))
      let isReading = true
      const pages = Promise.all(Array.from({ length: 4 }, () => world.read({ orderBy: "title" }, ROWS))).then(() => {
        isReading = false
      })
      let turns = 0
      for (; isReading; turns++) await nextTurn()
      await pages
      expect(turns).toBeGreaterThan(world.answers.length / 4)
    },
  )
})
