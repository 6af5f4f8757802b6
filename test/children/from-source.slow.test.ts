import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { expect, inject, onTestFinished, test } from "vitest"
import { programs } from "../../scripts/entries.ts"
import { readInChild } from "../../packs/analyst/csv/child-process.ts"
import { csvLimits } from "../../packs/analyst/csv/job.ts"
import { queryLimits } from "../../packs/analyst/database/sql-guards.ts"
import { SqliteChangeChildren } from "../../packs/analyst/sqlite/change-children.ts"
import { SqliteChildren } from "../../packs/analyst/sqlite/children.ts"
import { DocumentReader } from "../../packs/research/document-reader.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { eastAsianFont, placedPdf, smallPdf } from "../research/small-pdf.ts"

/**
 * All other tests start the built package. A checkout runs from its sources, and its child processes run sandboxed
 * like those of the package.
 */
const root = join(import.meta.dirname, "../..")
const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "from-source-"))
const child = (name: string) => ({ script: pathToFileURL(join(root, programs[name]!)) })
const { signal } = new AbortController()

const files = join(folder, "files")
mkdirSync(files)
const path = join(files, "shop.db")
const db = new DatabaseSync(path)
db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
db.close()
const where = { path, folders: [files], limits: queryLimits }

test("documents of every kind are read, and web responses", async () => {
  const reader = new DocumentReader({ other: child("document-child") })
  onTestFinished(() => reader.close())
  const reading = { person: "ada", signal }
  const texts = await Promise.all([
    reader.file("html", Buffer.from("<h1>Wings</h1><p>Lift."), reading),
    reader.file("markdown", Buffer.from("# Wings\n\nLift."), reading),
    reader.file("text", Buffer.from("Lift."), reading),
    reader.file("pdf", smallPdf(["Lift."]), reading),
  ])
  for (const { text, passages } of texts) expect([text.includes("Lift."), passages.length > 0]).toEqual([true, true])
  const line = JSON.stringify({ id: "2401.00001", title: "Wings", abstract: "Lift." })
  expect(await reader.papers([line], reading)).toMatchObject([{ about: { source: "arXiv:2401.00001" } }])
  const answer = JSON.stringify({ results: [{ title: "Wings", url: "https://example.org/", content: "Lift." }] })
  expect(await reader.answer("searxng", answer, reading)).toMatchObject([{ snippet: "Lift." }])
})

test("reads PDFs with East Asian fonts, whose character maps ship next to the package", async () => {
  const reader = new DocumentReader({ other: child("document-child") })
  onTestFinished(() => reader.close())
  const fonts = { F2: eastAsianFont("90ms-RKSJ-H", "Japan1") }
  const pdf = placedPdf([[{ x: 50, y: 700, hex: "93fa967b8cea", font: "F2" }]], { fonts })
  expect((await reader.file("pdf", pdf, { person: "ada", signal })).text.trim()).toBe("日本語")
})

test("SQLite files are read, and changed", async () => {
  const children = new SqliteChildren(undefined, child("sqlite-child"))
  onTestFinished(() => children.close())
  const guards = { statement: true, authorizer: true, readOnly: true }
  const job = { ...where, work: { type: "query", sql: "SELECT a FROM t" }, guards } as const
  expect(await children.run("ada", job, signal)).toMatchObject({ type: "answer", answer: { rows: [[1]] } })
  const changing = new SqliteChangeChildren(undefined, child("sqlite-change-child"))
  onTestFinished(() => changing.close())
  const outcome = await changing.run(where.folders, signal, async (process) => {
    process.send({ ...where, work: { type: "change", sql: "UPDATE t SET a = 2" } })
    expect(await process.hear(signal)).toMatchObject({ type: "changed", change: { affected: 1 } })
    process.send("commit")
    return process.hear(signal)
  })
  expect(outcome).toEqual({ type: "ended" })
})

test("CSV files become databases", async () => {
  const file = join(files, "sent.csv")
  writeFileSync(file, "a,b\n1,2\n")
  const to = join(files, "made.db")
  const job = { file, to, table: "t", isTabSeparated: false, limits: csvLimits }
  const outcome = await readInChild(job, signal, { other: child("csv-child") })
  expect(outcome).toMatchObject({ type: "read", preview: { rows: [[1, 2]] } })
  const made = new DatabaseSync(to, { readOnly: true })
  expect(made.prepare("SELECT count(*) AS n FROM t").get()).toEqual({ n: 1 })
  made.close()
})

test("the command starts a server", async () => {
  const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0" }
  await using server = new PawlProcess(["serve"], settings, { script: join(root, "bin", "pawl.js") })
  const [, url] = await server.says(/listening on (\S+)\n/)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})
