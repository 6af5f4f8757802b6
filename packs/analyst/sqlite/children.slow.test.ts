import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, inject, onTestFinished, test } from "vitest"
import { RecordingLog, programAround } from "../../../test/support/processes/processes.ts"
import { codeOf } from "../../../core/pack.ts"
import { queryLimits } from "../database/sql-guards.ts"
import { SqliteChildren } from "./children.ts"
import type { SqliteJob } from "./job.ts"

const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "sqlite-children-"))
const path = join(folder, "shop.db")
const db = new DatabaseSync(path)
db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
db.close()

const { signal } = new AbortController()
const jobOf = (sql: string): SqliteJob => ({
  path,
  folders: [folder],
  work: { type: "query", sql },
  limits: queryLimits,
  guards: { statement: true, authorizer: true, readOnly: true },
})
const answerOf = { type: "answer", answer: { rows: [[1]] } }
const child = new URL("./sqlite-child.ts", import.meta.url).href

/** The real child, in a process that does something else first. */
function open(first: string) {
  const program = programAround(`${first}\nawait import(${JSON.stringify(child)})`)
  const log = new RecordingLog()
  const children = new SqliteChildren(log, program)
  onTestFinished(() => children.close())
  return { log, children, mark: new URL("mark", program.script) }
}

const NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

// on x86_64 Node reserves 1.1 GB where it reserves 0.6 GB on arm64.
test.each([
  ["a set", `${NUMBERS} SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(500000)) FROM n)`],
  ["what is sorted", `${NUMBERS} SELECT i FROM n ORDER BY hex(randomblob(100000))`],
])(
  "a runtime that reserves a gigabyte reads files, and %s is bounded as ever",
  { timeout: 180_000 },
  async (_what, sql) => {
    const { children, log, mark } = open(`
    import { writeFileSync } from "node:fs"
    globalThis.reserved = new ArrayBuffer(1.2e9)
    writeFileSync(new URL("mark", import.meta.url), String(process.pid))`)
    expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
    const outcome = await children.run("ada", jobOf(sql), signal).catch((error: unknown) => error)
    // The allocation failed, or was so slow that the query timed out.
    const status = statusOf(readFileSync(mark, "utf8"))
    if (codeOf(outcome) !== "query_timeout")
      expect(outcome).toMatchObject({ type: "failed", problem: expect.stringContaining("memory") })
    if (status) expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(450_000)
    expect(log.lines).toEqual([])
    expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
  },
)

function statusOf(pid: string): string | undefined {
  const file = `/proc/${pid}/status`
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

/** Dies of the next query, so often. */
const dying = (times: number) => `
  import { appendFileSync, readFileSync } from "node:fs"
  const mark = new URL("mark", import.meta.url)
  appendFileSync(mark, "")
  process.on("message", () => {
    if (readFileSync(mark, "utf8").length >= ${times}) return
    appendFileSync(mark, "x")
    process.stderr.write("something broke\\n")
    process.exit(3)
  })`

test("a query whose process crashes is answered by another process, and the log has the crash's output and exit code", async () => {
  const { children, log } = open(dying(1))
  expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
  const fields = { program: "test-program", code: 3, signal: null, stderr: "something broke" }
  expect(log.lines).toMatchObject([{ event: "child_failed", fields }])
})

test("a query that crashes its process twice is not tried again, and the next query works", async () => {
  const { children, log, mark } = open(dying(2))
  await expect(children.run("ada", jobOf("SELECT a FROM t"), signal)).rejects.toMatchObject({ code: "query_failed" })
  expect(readFileSync(mark, "utf8")).toBe("xx")
  expect(log.lines).toHaveLength(2)
  expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
})

test("a process that crashes while idle is logged, and does not affect the next query", async () => {
  const { children, log, mark } = open(`
    import { writeFileSync } from "node:fs"
    writeFileSync(new URL("mark", import.meta.url), String(process.pid))`)
  await children.run("ada", jobOf("SELECT a FROM t"), signal)
  process.kill(Number(readFileSync(mark, "utf8")), "SIGKILL")
  // Immediately, before the end of the child is known, and again afterwards.
  expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
  expect(log.lines).toMatchObject([{ event: "child_failed", fields: { signal: "SIGKILL" } }])
  expect(await children.run("ada", jobOf("SELECT a FROM t"), signal)).toMatchObject(answerOf)
  expect(log.lines).toHaveLength(1)
})
