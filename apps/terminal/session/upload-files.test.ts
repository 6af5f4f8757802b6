import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { whyAutoAsks, workFilesOf } from "../../../client/work-files.ts"
import { describeFiles } from "../attachments/file-references.ts"
import { unreferencedFiles, uploadReferenced } from "./upload-files.ts"

test("files named with @path are uploaded once each, and other words with @ stay text", async () => {
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
  const files = await uploadReferenced(client as never, text)
  expect(files.map(({ id }) => id)).toEqual(["file_1", "file_2"])
  expect(sent).toEqual(["a.csv", "my notes.txt"])
  expect(describeFiles(files)).toBe("with a.csv (3 KB), my notes.txt (3 KB)")
})

test("a file that is too large is refused before it is read", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "named-"))
  const large = join(folder, "large.bin")
  writeFileSync(large, "")
  truncateSync(large, 26 * 1024 * 1024)
  const client = { uploadFile: () => Promise.reject(new Error("sent")) }
  await expect(uploadReferenced(client, `@${large}`)).rejects.toMatchObject({ code: "message_file_too_large" })
})

test("a file of a withdrawn message is sent again without an upload, unless it has changed", async () => {
  const path = join(mkdtempSync(join(tmpdir(), inject("testRun"), "named-")), "a.csv")
  writeFileSync(path, "a,b")
  let uploads = 0
  const client = { uploadFile: async () => ({ id: `file_${++uploads}`, name: "a.csv", size: 3 }) } as never
  const text = `Look at @${path}`
  const [named] = await uploadReferenced(client, text)
  const pasted = { ...named!, id: "file_pasted" as never, name: "pasted.png" }
  // A file that the text names is not attached again.
  expect(await unreferencedFiles(client, text, [named!, pasted])).toEqual([pasted])
  expect(await uploadReferenced(client, text)).toEqual([named])
  expect(uploads).toBe(1)
  // Without its text the file must be attached.
  expect(await unreferencedFiles(client, "Look at it", [named!])).toEqual([named])
  writeFileSync(path, "a,b,c")
  expect((await uploadReferenced(client, text)).map(({ id }) => id)).toEqual(["file_2"])
})

test("a file in the work folder is sent with its path, and keeps auto if the folder is trusted", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), inject("testRun"), "named-")))
  const [root, cart, other] = [join(base, "shop"), join(base, "shop", "src", "cart.js"), join(base, "other.txt")]
  mkdirSync(join(root, "src"), { recursive: true })
  for (const path of [cart, other]) writeFileSync(path, path)
  symlinkSync(root, join(base, "link"))
  symlinkSync(other, join(root, "out.txt"))
  let uploads = 0
  const uploadFile = async ({ query }: { query?: { name?: string } }) => ({
    id: `file_${++uploads}`,
    name: query?.name,
  })
  const send = (path: string, isTrusted = true) =>
    uploadReferenced({ uploadFile } as never, `@${path}`, { root, isTrusted })

  for (const path of [cart, join(base, "link", "src", "cart.js")])
    expect(await send(path)).toMatchObject([{ path: "src/cart.js", folder: "trusted" }])
  expect(whyAutoAsks(await send(cart))).toBeUndefined()
  expect(workFilesOf(await send(cart, false))).toMatchObject({ workFiles: [{ path: "src/cart.js", trusted: false }] })
  expect(whyAutoAsks(await send(cart, false))).toContain("you have not trusted the folder")
  for (const path of [other, join(root, "out.txt")]) {
    const sent = await send(path)
    expect([sent[0]?.path, workFilesOf(sent)]).toEqual([undefined, {}])
    expect(whyAutoAsks(sent)).toMatch(/^From here on auto asks before each change: .*(other|out)\.txt/)
  }
})
