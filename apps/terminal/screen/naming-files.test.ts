import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { InputHistory } from "../input/history.ts"
import { Writing } from "../input/writing.ts"
import { lineText } from "../line.ts"
import type { ClipboardImage } from "../naming/clipboard-image.ts"
import type { Talk } from "../talk/talk.ts"
import { Completion } from "./completion.ts"
import { NamingFiles } from "./naming-files.ts"

const folderOf = (...names: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "naming-"))
  for (const name of names) name.endsWith("/") ? mkdirSync(join(folder, name)) : writeFileSync(join(folder, name), "")
  return folder
}

function world(image: ClipboardImage = { problem: "There is no image." }) {
  const writing = new Writing(new InputHistory())
  const told: string[] = []
  const uploads: string[] = []
  const uploadFile = async ({ query }: { query: { name: string } }) => {
    uploads.push(query.name)
    return { id: `file_${uploads.length}`, name: query.name, type: "image/png", size: 2000 }
  }
  const talk = { client: { uploadFile }, complain: () => {} } as unknown as Talk
  const ports = { writing, changed: () => {}, tell: (words: string) => void told.push(words), talk: () => talk }
  return {
    writing,
    told,
    uploads,
    completion: new Completion(ports),
    naming: new NamingFiles(ports, async () => image),
  }
}

/** The names below what is written. */
const shown = (completion: Completion) => completion.lines(80).map(lineText).join("").trim().split("  ")

test("Tab writes what all have in common, then goes round; one alone is written whole, and a folder is gone into", async () => {
  const folder = folderOf("notes a.txt", "notes b.txt", "pictures/", "pictures/one.png", ".hidden")
  const { writing, told, completion } = world()
  const type = async (text: string) => {
    writing.edit({ type: "text", text })
    await completion.look()
  }
  await type(`See @${folder}/n`)
  expect(shown(completion)).toEqual(["notes a.txt", "notes b.txt"])
  completion.complete()
  expect(writing.words).toBe(`See @"${folder}/notes `)
  await completion.look()
  for (const name of ["notes a.txt", "notes b.txt", "notes a.txt"]) {
    completion.complete()
    expect(writing.words).toBe(`See @"${folder}/${name}"`)
  }
  await type(` and @${folder}/pi`)
  completion.complete()
  await completion.look()
  expect(writing.words).toMatch(/pictures\/$/)
  expect(shown(completion)).toEqual(["one.png"])
  completion.complete()
  expect(writing.words).toBe(`See @"${folder}/notes a.txt" and @${folder}/pictures/one.png `)
  await type(`@${folder}/zzz`)
  completion.complete()
  expect(told.at(-1)).toMatch(/^No readable file starts with/)
  await type(" words")
  expect(completion.lines(80)).toEqual([])
})

test("Tab before it is known what there is takes it as soon as it is; what was typed meanwhile is not overwritten", async () => {
  const folder = folderOf("notes.txt")
  const { writing, completion } = world()
  writing.edit({ type: "text", text: `@${folder}/no` })
  const looked = completion.look()
  completion.complete()
  expect(writing.words).toBe(`@${folder}/no`)
  await looked
  expect(writing.words).toBe(`@${folder}/notes.txt `)
  writing.put(`@${folder}/n`)
  const older = completion.look()
  completion.complete()
  writing.edit({ type: "text", text: "x" })
  await Promise.all([older, completion.look()])
  expect(writing.words).toBe(`@${folder}/nx`)
})

test("the path of a file that is dropped or pasted names it; any other is pasted as it is", async () => {
  const folder = folderOf("my file.png", "other.txt")
  const { writing, naming } = world()
  const paste = async (text: string) => {
    writing.paste(text)
    await naming.pasted(text)
    return writing.words
  }
  writing.put("What is")
  expect(await paste(`'${folder}/my file.png' `)).toBe(`What is @"${folder}/my file.png" `)
  expect(await paste(`${folder}/other.txt`)).toMatch(`my file.png" @${folder}/other.txt `)
  for (const same of [folder, `${folder}/nowhere.txt`, "two words"]) {
    writing.put("")
    expect(await paste(same)).toBe(same)
  }
  writing.put("@")
  expect(await paste(`${folder}/other.txt`)).toBe(`@${folder}/other.txt`)
  // Changed before it was known to be a file: then it is meant as it is.
  writing.put("")
  writing.paste(`${folder}/other.txt`)
  const late = naming.pasted(`${folder}/other.txt`)
  writing.put("another thing")
  await late
  expect(writing.words).toBe("another thing")
})

test("a pasted image goes along until it is left out, holds up sending while it is on its way, and none is said", async () => {
  const { writing, told, uploads, naming } = world({ bytes: Buffer.from("x"), type: "image/jpeg" })
  writing.put("What is this?")
  const pasting = naming.pasteImage()
  expect(naming.obstacle).toMatch("still being read")
  await pasting
  expect([uploads, naming.obstacle]).toEqual([["pasted.jpg"], undefined])
  expect(naming.lines(80).map(lineText).join("")).toMatch(/^with pasted.jpg \(2 KB\)/)
  writing.edit({ type: "delete-to-start" })
  expect(naming.obstacle).toMatch("Write what to do with the attachment")
  // Words that come back bring theirs, and those that are there stay.
  writing.giveBack({ text: "Compare them", at: 0, files: [{ ...writing.editor.files![0]!, id: "file_9" as never }] })
  expect(writing.editor.files?.map(({ id }) => id)).toEqual(["file_9", "file_1"])
  writing.edit({ type: "line-start" })
  writing.edit({ type: "delete-left" })
  writing.edit({ type: "delete-left" })
  expect([writing.words, writing.editor.files]).toEqual(["Compare them", undefined])
  const empty = world()
  await empty.naming.pasteImage()
  expect([empty.told.at(-1), empty.uploads]).toEqual(["There is no image.", []])
  expect(told.at(-1)).toBe("")
})
