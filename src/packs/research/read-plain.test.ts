import { expect, test } from "vitest"
import { readFile } from "./read-file.ts"

test("a page is read in the encoding that it names, and a text in the one that is found", async () => {
  const page = Buffer.concat([Buffer.from('<meta charset="koi8-r"><p>'), Buffer.from([0xcd, 0xc9, 0xd2])])
  expect((await readFile("html", page)).text).toContain("мир")
  expect((await readFile("text", Buffer.from("caf\xe9", "latin1"))).text).toBe("café")
  const japanese = Buffer.from("93fa967b8cea82cc95b68f9182c582b781420a8356834983808389".repeat(4), "hex")
  expect((await readFile("text", japanese)).text).toContain("日本語の文書です。")
})
