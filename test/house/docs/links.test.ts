import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { buildDocs } from "../../../scripts/build-docs.ts"

const docs = join(import.meta.dirname, "..", "..", "..", "docs")

test("every link in docs/ and in the project's own pages leads to a file and a heading that exist", async () => {
  const folder = await mkdtemp(join(tmpdir(), inject("testRun"), "links-"))
  expect(await buildDocs({ folder: join(folder, "site") })).toEqual([])
})

test("docs/README.md links to every page of the guide and of the reference", () => {
  const index = readFileSync(join(docs, "README.md"), "utf8")
  const pages = ["guide", "reference"].flatMap((folder) =>
    readdirSync(join(docs, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  )
  expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([])
})
