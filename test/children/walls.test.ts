import { existsSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, onTestFinished, test } from "vitest"
import { readInChild } from "../../packs/analyst/csv/child-process.ts"
import { csvLimits } from "../../packs/analyst/csv/job.ts"
import { queryLimits } from "../../packs/analyst/database/sql-guards.ts"
import { SqliteChangeChildren } from "../../packs/analyst/sqlite/change-children.ts"
import { SqliteChildren } from "../../packs/analyst/sqlite/children.ts"
import { DocumentReader } from "../../packs/research/document-reader.ts"
import { programOf } from "../support/processes/processes.ts"

const { signal } = new AbortController()
const folder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "walls-"))

/** A file of another owner, and one that the process may read. */
const outside = join(folder(), "secret.txt")
writeFileSync(outside, "somebody else's")
const given = join(folder(), "given.csv")
writeFileSync(given, "a,b\n1,2\n")
const written = join(folder(), "written")

/** Tries everything that a process could want, and answers each request with what it was allowed to do. */
const probe = (type: string, more = "{ problem }") =>
  programOf(`
  import { spawn } from "node:child_process"
  import { readdirSync, readFileSync, writeFileSync } from "node:fs"
  import { Worker } from "node:worker_threads"
  const tries = {
    "its own file": () => readFileSync(${JSON.stringify(given)}),
    "a file outside": () => readFileSync(${JSON.stringify(outside)}),
    "the folder around it": () => readdirSync(${JSON.stringify(join(outside, ".."))}),
    "a file of the system": () => readFileSync("/etc/passwd"),
    "what other processes do": () => readFileSync("/proc/1/cmdline"),
    "writing": () => writeFileSync(${JSON.stringify(written)}, "x"),
    "another process": () => spawn(process.execPath, ["--version"]),
    "a thread": () => new Worker("1", { eval: true }),
  }
  process.on("message", () => {
    const let_do = Object.entries(tries).flatMap(([what, attempt]) => {
      try {
        attempt()
        return [what]
      } catch {
        return []
      }
    })
    const problem = let_do.join(", ")
    process.send({ type: ${JSON.stringify(type)}, ...${more} })
  })
  process.send("ready")`)

const where = { path: given, folders: [join(given, "..")], limits: queryLimits }

test("a process that reads SQLite files can access only the files of its job", async () => {
  const children = new SqliteChildren(undefined, { script: probe("failed") })
  onTestFinished(() => children.close())
  const guards = { statement: true, authorizer: true, readOnly: true }
  const outcome = await children.run("ada", { ...where, work: { type: "probe" }, guards }, signal)
  expect(outcome).toEqual({ type: "failed", problem: "its own file" })
})

test("a process that has read for one person is not used for another, who has other folders", async () => {
  const pid = programOf(`
    process.on("message", () => process.send({ type: "failed", problem: String(process.pid) }))
    process.send("ready")`)
  const children = new SqliteChildren(undefined, { script: pid })
  onTestFinished(() => children.close())
  const guards = { statement: true, authorizer: true, readOnly: true }
  const asked = async (user: string) => {
    const job = { ...where, folders: [join(tmpdir(), user)], work: { type: "probe" }, guards } as const
    return ((await children.run(user, job, signal)) as { problem: string }).problem
  }
  const ada = await asked("ada")
  expect(await asked("ada")).toBe(ada)
  const bob = await asked("bob")
  expect(bob).not.toBe(ada)
  expect([await asked("ada"), await asked("bob")]).toEqual([ada, bob])
})

test("a process that changes SQLite files can access only the files of its job", async () => {
  const children = new SqliteChangeChildren(undefined, { script: probe("failed") })
  onTestFinished(() => children.close())
  const outcome = await children.run(where.folders, signal, (child) => {
    child.send({ ...where, work: { type: "change", sql: "" } })
    return child.hear(signal)
  })
  expect(outcome).toEqual({ type: "failed", problem: "its own file" })
})

test("a process that reads documents can access no file", async () => {
  const script = probe("refused", "{ refused: { code: 'document_unreadable', details: { problem } } }")
  const reader = new DocumentReader({ other: { script } })
  onTestFinished(() => reader.close())
  const reading = reader.file("text", Buffer.from("x"), { person: "ada", signal })
  await expect(reading).rejects.toMatchObject({ details: { problem: "" } })
})

test.each([null, join(folder(), "made.db")])(
  "a process that reads a CSV file can access only that file (made: %s)",
  async (to) => {
    const job = { file: given, to, table: "t", isTabSeparated: false, limits: csvLimits }
    const outcome = await readInChild(job, signal, { other: { script: probe("refused") } })
    expect(outcome).toEqual({ type: "refused", problem: "its own file" })
    expect(existsSync(written)).toBe(false)
  },
)
