import { expect, test } from "vitest"
import { readDocumentFile } from "./read-file.ts"

const read = (kind: "html" | "markdown", text: string) => readDocumentFile(kind, Buffer.from(text))

test("a page without a real title or author gets its first heading as title", async () => {
  const page = await read(
    "html",
    "<title>Untitled document</title><meta name=author content=admin><h1>Wings</h1><p>Lift.</p>",
  )
  expect(page).toMatchObject({ title: "Wings" })
  expect(page).not.toHaveProperty("authors")
})

test("front matter that says nothing is as good as none", async () => {
  const note = await read("markdown", "---\ntitle: Untitled\nauthor: [user, Ada B.]\n---\n# Wings\n\nLift.")
  expect(note).toMatchObject({ title: "Wings", authors: ["Ada B."] })
  expect(await read("markdown", "# Home\n\nText.")).toMatchObject({ title: "Home" })
})
