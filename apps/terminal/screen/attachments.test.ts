import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { InputHistory } from "../input/history.ts"
import { InputLine } from "../input/input-line.ts"
import { lineText } from "../line.ts"
import type { ClipboardImage } from "../attachments/clipboard-image.ts"
import type { TerminalSession } from "../session/terminal-session.ts"
import { PathCompletion } from "./path-completion.ts"
import { Attachments } from "./attachments.ts"

const folderOf = (...names: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "naming-"))
  for (const name of names) name.endsWith("/") ? mkdirSync(join(folder, name)) : writeFileSync(join(folder, name), "")
  return folder
}

function world(image: ClipboardImage = { problem: "There is no image." }) {
  const input = new InputLine(new InputHistory())
  const told: string[] = []
  const uploads: string[] = []
  const uploadFile = async ({ query }: { query: { name: string } }) => {
    uploads.push(query.name)
    return { id: `file_${uploads.length}`, name: query.name, type: "image/png", size: 2000 }
  }
  const session = { client: { uploadFile }, printError: () => {} } as unknown as TerminalSession
  const ports = { input, changed: () => {}, showHint: (words: string) => void told.push(words), session: () => session }
  return {
    input,
    told,
    uploads,
    completion: new PathCompletion(ports),
    naming: new Attachments(ports, async () => image),
  }
}

const shown = (completion: PathCompletion) => completion.lines(80).map(lineText).join("").trim().split("  ")

test("Tab inserts the common prefix, then cycles; a single match is completed, and a folder is opened", async () => {
  const folder = folderOf("notes a.txt", "notes b.txt", "pictures/", "pictures/one.png", ".hidden")
  const { input, told, completion } = world()
  const type = async (text: string) => {
    input.edit({ type: "text", text })
    await completion.update()
  }
  await type(`See @${folder}/n`)
  expect(shown(completion)).toEqual(["notes a.txt", "notes b.txt"])
  completion.complete()
  expect(input.words).toBe(`See @"${folder}/notes `)
  await completion.update()
  for (const name of ["notes a.txt", "notes b.txt", "notes a.txt"]) {
    completion.complete()
    expect(input.words).toBe(`See @"${folder}/${name}"`)
  }
  await type(` and @${folder}/pi`)
  completion.complete()
  await completion.update()
  expect(input.words).toMatch(/pictures\/$/)
  expect(shown(completion)).toEqual(["one.png"])
  completion.complete()
  expect(input.words).toBe(`See @"${folder}/notes a.txt" and @${folder}/pictures/one.png `)
  await type(`@${folder}/zzz`)
  completion.complete()
  expect(told.at(-1)).toMatch(/^No readable file starts with/)
  await type(" words")
  expect(completion.lines(80)).toEqual([])
})

test("Tab before the search has ended completes when it ends, without overwriting what was typed since", async () => {
  const folder = folderOf("notes.txt")
  const { input, completion } = world()
  input.edit({ type: "text", text: `@${folder}/no` })
  const read = completion.update()
  completion.complete()
  expect(input.words).toBe(`@${folder}/no`)
  await read
  expect(input.words).toBe(`@${folder}/notes.txt `)
  input.setText(`@${folder}/n`)
  const older = completion.update()
  completion.complete()
  input.edit({ type: "text", text: "x" })
  await Promise.all([older, completion.update()])
  expect(input.words).toBe(`@${folder}/nx`)
})

test("a dropped or pasted file path becomes a reference; any other text is pasted unchanged", async () => {
  const folder = folderOf("my file.png", "other.txt")
  const { input, naming } = world()
  const paste = async (text: string) => {
    input.paste(text)
    await naming.textPasted(text)
    return input.words
  }
  input.setText("What is")
  expect(await paste(`'${folder}/my file.png' `)).toBe(`What is @"${folder}/my file.png" `)
  expect(await paste(`${folder}/other.txt`)).toMatch(`my file.png" @${folder}/other.txt `)
  for (const same of [folder, `${folder}/nowhere.txt`, "two words"]) {
    input.setText("")
    expect(await paste(same)).toBe(same)
  }
  input.setText("@")
  expect(await paste(`${folder}/other.txt`)).toBe(`@${folder}/other.txt`)
  // Edited before the check had ended: the path stays text.
  input.setText("")
  input.paste(`${folder}/other.txt`)
  const late = naming.textPasted(`${folder}/other.txt`)
  input.setText("another thing")
  await late
  expect(input.words).toBe("another thing")
})

test("a pasted image is attached until it is removed, blocks sending while it uploads, and a missing image is reported", async () => {
  const { input, told, uploads, naming } = world({ bytes: Buffer.from("x"), type: "image/jpeg" })
  input.setText("What is this?")
  const pasting = naming.pasteImage()
  expect(naming.obstacle).toMatch("still being read")
  await pasting
  expect([uploads, naming.obstacle]).toEqual([["pasted.jpg"], undefined])
  expect(naming.lines(80).map(lineText).join("")).toMatch(/^with pasted.jpg \(2 KB\)/)
  input.edit({ type: "delete-to-start" })
  expect(naming.obstacle).toMatch("Write what to do with the attachment")
  // A restored message has its own files, and those already attached stay.
  input.restore({ text: "Compare them", at: 0, files: [{ ...input.editor.files![0]!, id: "file_9" as never }] })
  expect(input.editor.files?.map(({ id }) => id)).toEqual(["file_9", "file_1"])
  input.edit({ type: "line-start" })
  input.edit({ type: "delete-left" })
  input.edit({ type: "delete-left" })
  expect([input.words, input.editor.files]).toEqual(["Compare them", undefined])
  const empty = world()
  await empty.naming.pasteImage()
  expect([empty.told.at(-1), empty.uploads]).toEqual(["There is no image.", []])
  expect(told.at(-1)).toBe("")
})
