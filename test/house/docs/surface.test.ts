import { readFileSync } from "node:fs"
import { beforeAll, describe, expect, test } from "vitest"
import { faultsOf, readSurface, type Surface } from "../../../scripts/surface.ts"

describe("what other programs can import", () => {
  let surface: Surface
  beforeAll(() => {
    surface = readSurface()
  }, 120_000)

  test("is printed in docs/reference/surface.md; after a change that is meant: npm run api", () => {
    expect(surface.text).toBe(readFileSync(new URL("../../../docs/reference/surface.md", import.meta.url), "utf8"))
  })

  test("has every type that a signature uses, and no other", () => {
    expect(surface.faults).toEqual([])
  })

  test("does not expose how the store agrees on the writer", () => {
    const [, engine = ""] = /^## @pawl\/core \(.*\n([^]*?)^## /m.exec(surface.text) ?? []
    expect(engine).toContain("const openPawl")
    expect(engine).not.toMatch(/\b(lease|fence|inbox|journal|runtime|ports)\b/i)
  })
})

test.each<[what: string, text: string, more: string[], faults: string[]]>([
  ["a type that cannot be imported", "const open: (options: Options) => Promise<void>", [], ["Options stands in"]],
  ["one inside another", "const open: () => Promise<Page<Item>>", ["interface Page<T> {}"], ["Item stands in"]],
  ["a type that nobody needs", "const open: () => void", ["interface Page {}"], ["Page is exported"]],
])("the check of types finds %s", (_what, text, more, faults) => {
  const types = more.map((declared) => ({
    name: /\w+ (\w+)/.exec(declared)?.[1] ?? "",
    isValue: false,
    text: declared,
  }))
  const entry = { name: "index", exports: [{ name: "open", isValue: true, text }, ...types] }
  expect(faultsOf(entry, (name) => name === "Promise")).toEqual(faults.map((fault) => expect.stringContaining(fault)))
})

test("type parameters, texts and names of properties are not types", () => {
  const text = 'const open: <Input, Result = Input>(given: { Name: "Text"; value: Input }) => Result'
  expect(faultsOf({ name: "index", exports: [{ name: "open", isValue: true, text }] }, () => false)).toEqual([])
})
