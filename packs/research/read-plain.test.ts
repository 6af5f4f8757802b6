import { expect, test } from "vitest"
import { readDocumentFile } from "./read-file.ts"

test("a page is read in the encoding that it names, and a text in the one that is found", async () => {
  const page = Buffer.concat([Buffer.from('<meta charset="koi8-r"><p>'), Buffer.from([0xcd, 0xc9, 0xd2])])
  expect((await readDocumentFile("html", page)).text).toContain("мир")
  expect((await readDocumentFile("text", Buffer.from("caf\xe9", "latin1"))).text).toBe("café")
  const japanese = Buffer.from("93fa967b8cea82cc95b68f9182c582b781420a8356834983808389".repeat(4), "hex")
  expect((await readDocumentFile("text", japanese)).text).toContain("日本語の文書です。")
})

test("a text of unknown encoding is refused with a sentence, and not stored with wrong letters", async () => {
  const russian = Buffer.from("cff0e8e2e5f22c20ece8f021", "hex") // windows-1251, which says so nowhere
  for (const kind of ["text", "markdown", "html"] as const)
    await expect(readDocumentFile(kind, russian)).rejects.toMatchObject({
      code: "document_unreadable",
      details: { problem: expect.stringMatching(/not UTF-8.*; save it as UTF-8$/) },
    })
  const named = Buffer.concat([Buffer.from("<meta charset=cp1251>"), russian])
  expect(await readDocumentFile("html", named)).toMatchObject({ text: "Привет, мир!" })
  await expect(
    readDocumentFile("text", Buffer.from("One caf\xe9\0two three four five six seven", "latin1")),
  ).rejects.toMatchObject({
    details: { problem: expect.stringContaining("NUL bytes") },
  })
})

test("what is a guess, or has letters that are lost, says so; what is sure does not", async () => {
  expect((await readDocumentFile("text", Buffer.from("un caf\xe9 noir", "latin1"))).remark).toBe(
    "it is not UTF-8 and was read as windows-1252; check that its text is correct",
  )
  const mostly = Buffer.concat([Buffer.from("Bären, Käse, Öl "), Buffer.from([0xff])])
  expect((await readDocumentFile("text", mostly)).remark).toBe("some bytes are not UTF-8; they are shown as \uFFFD")
  const holed = await readDocumentFile("text", Buffer.from("Bären\0und Käse und Öl und noch mehr"))
  expect(holed.text).toMatch(/^Bären\uFFFDund/)
  expect(holed.remark).toContain("some bytes are not UTF-8")
  const page = Buffer.concat([Buffer.from('<meta charset="koi8-r"><p>'), Buffer.from([0xcd, 0xc9, 0xd2])])
  for (const sure of [Buffer.from("Bären"), Buffer.from("\uFEFFmir", "utf16le"), page])
    expect((await readDocumentFile("html", sure)).remark).toBeUndefined()
})
