import { describe, expect, test } from "vitest"
import { MAX_FRAME_BYTES, type ToolCall } from "../../core/protocol/socket.ts"
import { LocalDevice } from "./local-device.fixture.ts"

/** A device with tasks `a`, `b`, … and their ids. */
async function withTasks(titles: string) {
  const device = new LocalDevice()
  const ids = new Map<string, string>()
  for (const title of titles) ids.set(title, (await device.insert("tasks", { title })).id)
  const page = async (more: Partial<ToolCall>) => {
    const { rows = [], next, total } = await device.does("select", { table: "tasks", ...more })
    return { titles: rows.map(({ title }) => title).join(""), next, total }
  }
  const drop = (title: string) => device.does("delete", { table: "tasks", data: { id: ids.get(title) } })
  return Object.assign(device, { page, drop, ids })
}

describe("pages of a device", () => {
  test("follow each other in the requested order, and end", async () => {
    using device = await withTasks("cabed")
    const filters = { orderBy: "title" }
    const first = await device.page({ limit: 2, filters })
    expect(first).toEqual({ titles: "ab", next: expect.any(String), total: 5 })
    const second = await device.page({ limit: 2, filters, after: first.next! })
    const third = await device.page({ limit: 2, filters, after: second.next! })
    expect([second.titles, third]).toEqual(["cd", { titles: "e", next: undefined, total: 5 }])
  })

  test("are not made without a request: all rows, and nothing else", async () => {
    using device = await withTasks("ab")
    expect(Object.keys(await device.does("select", { table: "tasks" }))).toEqual(["rows"])
  })

  test("omit no row that stays while others are added and deleted", async () => {
    for (const gone of ["a", "b", "ab", "c"]) {
      using device = await withTasks("abcdef")
      const first = await device.page({ limit: 2 })
      for (const title of gone) await device.drop(title)
      const rest = await device.page({ limit: 10, after: first.next! })
      const stays = [..."cdef"].filter((title) => !gone.includes(title)).join("")
      expect(rest.titles.slice(-stays.length), `without ${gone}`).toBe(stays)
    }
    using device = await withTasks("bdf")
    const filters = { orderBy: "title" }
    const first = await device.page({ limit: 2, filters })
    for (const title of "ace") await device.insert("tasks", { title })
    expect((await device.page({ limit: 10, filters, after: first.next! })).titles).toContain("ef")
  })

  test("hold as much as fits into a frame, and at least one row", async () => {
    using device = new LocalDevice()
    for (const length of [400_000, 500_000, 600_000, 900_000])
      await device.insert("notes", { title: String(length), content: "x".repeat(length) })
    const sizes: number[] = []
    let after: string | undefined
    do {
      const { rows = [], next } = await device.does("select", {
        table: "notes",
        limit: 100,
        ...(after ? { after } : {}),
      })
      expect(JSON.stringify(rows).length).toBeLessThan(MAX_FRAME_BYTES)
      sizes.push(rows.length)
      after = next
    } while (after)
    expect(sizes).toEqual([2, 1, 1])
  })

  test("have only the requested columns, with the id", async () => {
    using device = await withTasks("a")
    const { rows } = await device.does("select", { table: "tasks", columns: ["title"] })
    expect(rows).toEqual([{ id: device.ids.get("a"), title: "a" }])
    expect(await device.refusal("select", { table: "tasks", columns: ["secret"] })).toContain('no column "secret"')
  })

  test.each([{ limit: 0 }, { limit: -1 }, { limit: 1e9 }, { after: "" }, { after: "1" }, { after: "x y" }])(
    "refuse %j with a sentence",
    async (wanted) => {
      using device = await withTasks("a")
      expect(await device.refusal("select", { table: "tasks", ...wanted })).toMatch(/page/i)
    },
  )
})

describe("rows that reference a row", () => {
  test("come with the row in one answer; null where there are none", async () => {
    using device = await withTasks("a")
    const id = device.ids.get("a")
    const comment = await device.insert("taskComments", { taskId: id, author: "Ada", content: "Soon" })
    const answer = await device.does("hanging", { table: "tasks", data: { id } })
    expect(answer).toMatchObject({ row: { id, title: "a" }, with: { taskComments: [comment] } })
    expect(await device.does("hanging", { table: "tasks", data: { id: "none" } })).toEqual({ row: null, with: {} })
  })

  test("must match the shown ones at deletion, as must the row: otherwise nothing is deleted", async () => {
    using device = await withTasks("a")
    const id = String(device.ids.get("a"))
    const comment = await device.insert("taskComments", { taskId: id, author: "Ada", content: "Soon" })
    const drop = (data: Record<string, unknown>) => ({ table: "tasks", data: { id, ...data } })
    for (const stale of [
      { expect: { title: "b" } },
      { with: {} },
      { with: { taskComments: [comment.id, "another"] } },
      { with: { taskComments: [comment.id], notes: ["n1"] } },
    ])
      expect(await device.refusal("delete", drop(stale)), JSON.stringify(stale)).toMatch(/^stale:/)
    expect([device.rows("tasks"), device.rows("taskComments")]).toMatchObject([{ length: 1 }, { length: 1 }])
    await device.does("delete", drop({ expect: { title: "a" }, with: { taskComments: [comment.id] } }))
    expect(device.rows("tasks")).toEqual([])
  })
})
