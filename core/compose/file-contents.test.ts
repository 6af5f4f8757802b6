import { expect, test } from "vitest"
import { failure } from "../protocol/errors.ts"
import type { FileText, MessageFiles } from "../engine/stored-files.ts"
import { fileContents } from "./file-contents.ts"

const asked = { user: "user_1", id: "file_1", type: "application/pdf" } as never
const reading = { most: 1000, signal: new AbortController().signal }

/** A document, and its stored text. */
function oneFile() {
  let kept: FileText | undefined
  const files = {
    find: async () => ({ size: 3 }),
    async *read() {
      yield Buffer.from("abc")
    },
    readText: async () => kept,
    keepText: async (_user: string, _id: string, text: FileText) => void (kept ??= text),
  }
  return files as unknown as MessageFiles
}

test("a document whose reader crashed is read again after a while, an unreadable one is not", async () => {
  let now = 0
  let reads = 0
  const outcomes = [{ problem: "it broke the reader", canRetry: true }, { problem: "it is locked" }]
  const reader = {
    readPdf: () => Promise.reject(failure("document_unreadable", outcomes[reads++] as { problem: string })),
  }
  const contents = fileContents(oneFile(), reader, () => now)
  const problems: (string | undefined)[] = []
  for (const minutes of [0, 5, 11, 60]) {
    now = minutes * 60_000
    problems.push((await contents.text(asked, reading))?.problem)
  }
  expect(problems).toEqual(["it broke the reader", "it broke the reader", "it is locked", "it is locked"])
  expect(reads).toBe(2)
})
