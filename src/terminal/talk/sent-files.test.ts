import { mkdtempSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { filesWords } from "../naming/file-words.ts"
import { filesBack, uploadNamed } from "./sent-files.ts"

test("what words name with @path is uploaded once each, and other words with @ are words", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "named-"))
  const [plain, spaced] = [join(folder, "a.csv"), join(folder, "my notes.txt")]
  writeFileSync(plain, "a,b")
  writeFileSync(spaced, "Hello")
  const sent: (string | undefined)[] = []
  const client = {
    uploadFile: async ({ query }: { query?: { name?: string } }) => {
      sent.push(query?.name)
      return { id: `file_${sent.length}`, name: query?.name, size: 3000 }
    },
  }
  const text = `Compare @${plain}, and @"${spaced}" (@${plain}) for ada@example.org and @bob`
  const files = await uploadNamed(client as never, text)
  expect(files.map(({ id }) => id)).toEqual(["file_1", "file_2"])
  expect(sent).toEqual(["a.csv", "my notes.txt"])
  expect(filesWords(files)).toBe("with a.csv (3 KB), my notes.txt (3 KB)")
})

test("a file that is too large is refused before it is read", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "named-"))
  const large = join(folder, "large.bin")
  writeFileSync(large, "")
  truncateSync(large, 26 * 1024 * 1024)
  const client = { uploadFile: () => Promise.reject(new Error("sent")) }
  await expect(uploadNamed(client, `@${large}`)).rejects.toMatchObject({ code: "message_file_too_large" })
})

test("what comes back with its words is sent again without an upload, unless it was written to since", async () => {
  const path = join(mkdtempSync(join(tmpdir(), inject("testRun"), "named-")), "a.csv")
  writeFileSync(path, "a,b")
  let uploads = 0
  const client = { uploadFile: async () => ({ id: `file_${++uploads}`, name: "a.csv", size: 3 }) } as never
  const text = `Look at @${path}`
  const [named] = await uploadNamed(client, text)
  const pasted = { ...named!, id: "file_pasted" as never, name: "pasted.png" }
  // What the words name themselves does not stand beside them a second time.
  expect(await filesBack(client, text, [named!, pasted])).toEqual([pasted])
  expect(await uploadNamed(client, text)).toEqual([named])
  expect(uploads).toBe(1)
  // Without the words that named it, it has to come along by itself.
  expect(await filesBack(client, "Look at it", [named!])).toEqual([named])
  writeFileSync(path, "a,b,c")
  expect((await uploadNamed(client, text)).map(({ id }) => id)).toEqual(["file_2"])
})
