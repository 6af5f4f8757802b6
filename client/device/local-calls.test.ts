import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject, describe, expect, test } from "vitest"
import { failure } from "../../core/protocol/errors.ts"
import { DAY_MS, LEDGER_DAYS } from "./ledger.ts"
import { LocalDevice } from "./local-device.fixture.ts"

const newFile = () => join(mkdtempSync(join(tmpdir(), inject("testRun"), "device-")), "device.db")
const milk = { id: "call_milk", table: "tasks", data: { title: "Buy milk" } }

describe("a call is applied once", () => {
  test("however often it is sent, with the same answer", async () => {
    using device = new LocalDevice()
    const first = await device.offer("insert", milk)
    device.now += 1000
    expect(await device.offer("insert", milk)).toEqual(first)
    expect(await device.offer("insert", { ...milk, data: { title: "Another" } })).toEqual(first)
    expect(device.rows("tasks")).toHaveLength(1)
  })

  test("also after a restart of the device", async () => {
    const file = newFile()
    using first = new LocalDevice(file)
    const answer = await first.offer("insert", milk)
    using second = new LocalDevice(file)
    expect(await second.offer("insert", milk)).toEqual(answer)
    expect(second.calls.report(milk.id)).toEqual({ status: "applied", outcome: answer })
    expect(second.rows("tasks")).toHaveLength(1)
  })

  test("and refused once: a stale write stays refused when the row is as it was again", async () => {
    using device = new LocalDevice()
    const { id } = await device.insert("tasks", { title: "now" })
    const change = {
      id: "call_change",
      table: "tasks",
      data: { id, updates: { title: "next" }, expect: { title: "then" } },
    }
    const refused = await device.offer("update", change)
    expect(refused).toEqual({ error: expect.stringContaining("stale") })
    await device.does("update", { table: "tasks", data: { id, updates: { title: "then" } } })
    expect(await device.offer("update", change)).toEqual(refused)
    expect(device.rows("tasks")).toMatchObject([{ title: "then" }])
  })

  test("but a read is repeated each time", async () => {
    using device = new LocalDevice()
    const list = () => device.offer("select", { id: "call_list", table: "tasks" })
    expect(await list()).toEqual({ rows: [] })
    await device.insert("tasks", { title: "x" })
    expect((await list())?.rows).toHaveLength(1)
  })
})

describe("a call that never arrived", () => {
  test("is unknown, and refused if it arrives later, also after a restart", async () => {
    const file = newFile()
    using first = new LocalDevice(file)
    expect(first.calls.report(milk.id)).toEqual({ status: "unknown", outcome: {} })
    expect(await first.offer("insert", milk)).toEqual({
      error: expect.stringContaining("the answer that it never arrived"),
    })
    using second = new LocalDevice(file)
    expect(await second.offer("insert", milk)).toMatchObject({ error: expect.any(String) })
    expect(second.calls.report(milk.id)).toEqual({ status: "unknown", outcome: {} })
    expect(second.rows("tasks")).toEqual([])
  })

  test("may be retried once by a caller that knows that it never arrived", async () => {
    using device = new LocalDevice()
    device.calls.report(milk.id)
    const again = () => device.calls.perform({ type: "tool_call", action: "insert", ...milk }, "knowing")
    const answer = await again()
    expect(answer).toMatchObject({ row: { title: "Buy milk" } })
    expect(await again()).toEqual(answer)
    expect(await device.offer("insert", milk)).toEqual(answer)
    expect(device.calls.report(milk.id)).toEqual({ status: "applied", outcome: answer })
    expect(device.rows("tasks")).toHaveLength(1)
  })

  test("is forgotten like every other after 30 days", async () => {
    const file = newFile()
    using first = new LocalDevice(file)
    await first.offer("insert", milk)
    first.now += LEDGER_DAYS * DAY_MS
    await first.offer("insert", { ...milk, id: "call_later" })
    expect(first.calls.report(milk.id)).toMatchObject({ status: "applied" })
    first.now += DAY_MS
    await first.offer("insert", { ...milk, id: "call_after" })
    expect(first.rows("pawlCall")).toMatchObject([{ id: "call_after" }, { id: "call_later" }])
  })

  test("stays where the file cannot be written: the device works, and tries again the next day", async () => {
    const file = newFile()
    using old = new LocalDevice(file)
    await old.offer("insert", milk)
    const problems: unknown[] = []
    using device = new LocalDevice(file, {}, { onProblem: (problem) => problems.push(problem) })
    const prepare = device.db.prepare.bind(device.db)
    device.db.prepare = (sql) => {
      if (sql.includes("DELETE")) throw new Error("database is locked")
      return prepare(sql)
    }
    device.now += (LEDGER_DAYS + 1) * DAY_MS
    expect(await device.offer("insert", { ...milk, id: "call_2" })).toMatchObject({ row: { title: "Buy milk" } })
    expect(await device.offer("insert", { ...milk, id: "call_3" })).toMatchObject({ row: { title: "Buy milk" } })
    expect(problems).toEqual([new Error("database is locked")])
    device.db.prepare = prepare
    device.now += DAY_MS
    await device.offer("insert", { ...milk, id: "call_4" })
    expect(device.rows("pawlCall")).toHaveLength(3)
  })
})

describe("a tool of the device", () => {
  test("gets its input and answers in order", async () => {
    using device = new LocalDevice(":memory:", { greet: ({ name }) => ({ text: `Hello ${name}\0`, data: { name } }) })
    expect(await device.offer("greet", { data: { name: "Ada" } })).toEqual({
      row: { text: "Hello Ada\ufffd", data: { name: "Ada" } },
    })
  })

  test("runs once for all callers during and after the run", async () => {
    const gate = Promise.withResolvers<void>()
    let runs = 0
    using device = new LocalDevice(":memory:", {
      touch: async () => {
        await gate.promise
        return { text: `run ${++runs}` }
      },
    })
    const offers = [device.offer("touch", { id: "call_t" }), device.offer("touch", { id: "call_t" })]
    const report = device.calls.report("call_t")
    expect(report?.status).toBe("running")
    gate.resolve()
    expect(await Promise.all(offers)).toEqual([{ row: { text: "run 1" } }, { row: { text: "run 1" } }])
    expect(await device.offer("touch", { id: "call_t" })).toEqual({ row: { text: "run 1" } })
    expect(device.calls.report("call_t")).toEqual({ status: "applied", outcome: { row: { text: "run 1" } } })
  })

  test("whose end was not recorded before a restart is not run again, and has no result", async () => {
    const file = newFile()
    using first = new LocalDevice(file, { touch: () => new Promise(() => {}) })
    void first.offer("touch", { id: "call_t" })
    let runs = 0
    using second = new LocalDevice(file, { touch: () => ({ text: `${++runs}` }) })
    expect(await second.offer("touch", { id: "call_t" })).toBeUndefined()
    expect(second.calls.report("call_t")).toBeUndefined()
    expect(runs).toBe(0)
  })

  test("that only reads runs each time, and its result is not stored", async () => {
    let runs = 0
    using device = new LocalDevice(":memory:", { peek: () => ({ text: `look ${++runs}` }) }, { readers: ["peek"] })
    expect(await device.offer("peek", { id: "call_p" })).toEqual({ row: { text: "look 1" } })
    expect(await device.offer("peek", { id: "call_p" })).toEqual({ row: { text: "look 2" } })
    expect(device.rows("pawlCall")).toEqual([])
  })

  test("that is cancelled gets the cancellation, and its result is the answer", async () => {
    const told = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    const sleep = async (_: object, { signal }: { signal: AbortSignal }) => {
      await told(signal)
      return { text: "stopped" }
    }
    using device = new LocalDevice(":memory:", { sleep, doze: sleep }, { readers: ["doze"] })
    const [one, other, read] = ["sleep", "sleep", "doze"].map((name, at) => device.offer(name, { id: `call_${at}` }))
    device.calls.cancel("call_1")
    device.calls.cancel("call_2")
    device.calls.cancel("call_unheard_of")
    expect(await Promise.all([other, read])).toEqual([{ row: { text: "stopped" } }, { row: { text: "stopped" } }])
    expect(device.calls.report("call_1")).toMatchObject({ status: "applied" })
    expect(device.calls.report("call_0")).toMatchObject({ status: "running" })
    device.calls.cancel("call_0")
    await one
  })

  test("that breaks when it is cancelled is in doubt and never failed; one that only reads may say so", async () => {
    const file = newFile()
    const torn = (_: object, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
    using device = new LocalDevice(file, { order: torn, peek: torn }, { readers: ["peek"] })
    const [order, peek] = [device.offer("order", { id: "call_o" }), device.offer("peek", { id: "call_p" })]
    device.calls.cancel("call_o")
    device.calls.cancel("call_p")
    expect(await order).toBeUndefined()
    expect(device.calls.report("call_o")).toBeUndefined()
    expect(await peek).toMatchObject({ error: expect.stringMatching(/abort/) as string })
    using second = new LocalDevice(file, { order: () => ({ text: "twice" }) })
    expect(await second.offer("order", { id: "call_o" })).toBeUndefined()
  })

  test("that does not know what it has done is in doubt and never failed, also after a restart", async () => {
    const file = newFile()
    const unknown = failure("outcome_unknown", { problem: "The editor has not said whether it has written a.txt." })
    using device = new LocalDevice(file, { write: () => Promise.reject(unknown) })
    expect(await device.offer("write", { id: "call_w" })).toBeUndefined()
    expect(device.calls.report("call_w")).toBeUndefined()
    using second = new LocalDevice(file, { write: () => ({ text: "twice" }) })
    expect(await second.offer("write", { id: "call_w" })).toBeUndefined()
  })

  test("that returns nothing claims nothing, in any form", async () => {
    const handlers = {
      now: () => undefined,
      soon: () => Promise.resolve(),
      long: () => ({ data: "x".repeat(2_000_000) }),
    }
    using device = new LocalDevice(":memory:", handlers as never)
    const answers = ["now", "soon", "long"].map((name) => device.offer(name))
    expect(await Promise.all(answers)).toEqual([{ row: {} }, { row: {} }, { row: {} }])
  })

  test("that throws reports the error, and a long result is cut", async () => {
    using device = new LocalDevice(":memory:", {
      fail: () => Promise.reject(new Error("no such file")),
      shout: () => ({ text: "x".repeat(2_000_000) }),
    })
    expect(await device.offer("fail")).toEqual({ error: "no such file" })
    const { row } = (await device.offer("shout")) ?? {}
    expect(String(row?.text)).toMatch(/^x{10000}\n\(.*too large/)
  })
})

test("a disk that cannot be written is reported as unchanged; facts that only the file knows are not guessed", async () => {
  using device = new LocalDevice()
  const failing = (errcode: number) => Object.assign(new Error("disk"), { code: "ERR_SQLITE_ERROR", errcode })
  const prepare = device.db.prepare.bind(device.db)
  for (const [errcode, answered] of [
    [13, true],
    [522, false],
  ] as const) {
    device.db.prepare = (sql) => {
      if (sql.includes(`INSERT INTO "pawlCall"`)) throw failing(errcode)
      return prepare(sql)
    }
    const offered = device.offer("insert", { ...milk, id: `call_${errcode}` })
    if (answered) expect(await offered).toEqual({ error: "Nothing was changed: disk." })
    else await expect(offered).rejects.toThrow("disk")
  }
  device.db.prepare = prepare
  expect(device.rows("tasks")).toEqual([])
})
