import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { referencePages } from "../../../scripts/reference.ts"

const pages = Object.entries(await referencePages())

test.each(pages)("docs/reference/%s matches the code; `npm run reference` writes it", (name, text) => {
  expect(readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), "utf8")).toBe(text)
})

test("the reference names every error, and no sentence in it is empty", () => {
  const errors = Object.fromEntries(pages)["errors.md"] ?? ""
  expect(errors).toContain("`proposal_expired`")
  expect(errors).not.toMatch(/\| {2}\||undefined|NaN/)
})
