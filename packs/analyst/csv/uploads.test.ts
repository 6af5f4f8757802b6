import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import type { UserId } from "../../../core/pack.ts"
import { CsvFiles } from "./files.ts"
import { type CsvLimits, csvLimits } from "./job.ts"
import { CsvUploads } from "./uploads.ts"

const user = "user_ada" as UserId
const rows = (count: number) => `id,name\n${Array.from({ length: count }, (_, i) => `${i},name ${i}`).join("\n")}\n`

function opened(limits: Partial<CsvLimits>, isRecorded = async () => false) {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-uploads-"))
  const files = new CsvFiles(root, isRecorded)
  const uploads = new CsvUploads(files, { limits: { ...csvLimits, ...limits } })
  const left = () => readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.(db|csv)$/.test(name))
  async function* body(text: string) {
    yield Buffer.from(text)
  }
  const keep = (text: string, record = async () => {}, signal = new AbortController().signal) =>
    uploads.keep({ user, name: "x", body: body(text), isTabSeparated: false, signal }, record)
  return { keep, left, folders: () => readdirSync(join(root, ".uploads")) }
}

test("a person's files have a common limit, and a file beyond it is removed completely", async () => {
  const { keep, left } = opened({ keptBytes: 30_000 })
  await keep(rows(100))
  await keep(rows(100))
  await expect(keep(rows(2000))).rejects.toMatchObject({ code: "csv_full" })
  expect(left()).toHaveLength(2)
})

test("an upload that takes too long, is aborted, or cannot be recorded leaves no files", async () => {
  const slow = opened({ seconds: 0.001 }) // no process starts in a millisecond
  await expect(slow.keep(rows(10))).rejects.toMatchObject({ code: "csv_refused" })
  const given = opened({})
  const gone = new AbortController()
  const leaving = given.keep(rows(200_000), undefined, gone.signal)
  setTimeout(() => gone.abort(new Error("hung up")), 300)
  await expect(leaving).rejects.toThrow()
  const lost = opened({})
  await expect(lost.keep(rows(10), () => Promise.reject(new Error("the store is gone")))).rejects.toThrow("the store")
  expect([slow.left(), given.left(), lost.left()]).toEqual([[], [], []])
})

test("a file is stored if its connection may be recorded, and if that is unknown it is left to the next start", async () => {
  const lost = () => Promise.reject(new Error("the answer was lost"))
  const recorded = opened({}, async () => true)
  await expect(recorded.keep(rows(10), lost)).rejects.toThrow("the answer")
  const unknown = opened({}, () => Promise.reject(new Error("the store is gone")))
  await expect(unknown.keep(rows(10), lost)).rejects.toThrow("the answer")
  expect([recorded.left().length, recorded.folders().length]).toEqual([1, 0])
  expect([unknown.left().length, unknown.folders().length]).toEqual([1, 1])
})
