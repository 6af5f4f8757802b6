import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { examples } from "../../support/processes/doc-examples.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")
const readme = read("README.md")

test("the README has at most 600 words", () => {
  expect(readme.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(600)
})

test("the README's code is an example of the guide, which is run", () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
  expect(code?.trim().split("\n").filter(Boolean)).toHaveLength(12)
  expect(examples.filter(({ page }) => page === "guide/library.md").map((example) => example.code)).toContain(code)
})

test("the README names the commands that start and test a clone", () => {
  expect(readme).toMatch(/^npm ci && npm start\b/m)
  expect(readme).toMatch(/^npm ci && npm test\b/m)
})

test("the README loads nothing from a network", () => {
  expect(readme).not.toMatch(/!\[[^\]]*\]\(https?:|<img[^>]+https?:/)
})

test("the recording shows both crashes, loads nothing and has at most 1 MB", () => {
  const svg = read("docs/images/recording.svg")
  const text = svg.replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, "\n")
  for (const shown of ["pawl chat --continue", "Killed", "Publish version 1.4.0.", "retry / done / abandon"])
    expect(text).toContain(shown)
  expect(statSync(join(root, "docs/images/recording.svg")).size).toBeLessThanOrEqual(1_000_000)
  expect(svg).not.toMatch(/<script|<image|<foreignObject|@import|url\(|href="(?!#)/)
})

test("a page shows every picture in docs/images", () => {
  const pages = [
    "README.md",
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`),
  ]
  const text = pages
    .filter((name) => name.endsWith(".md"))
    .map(read)
    .join("\n")
  expect(readdirSync(join(root, "docs/images")).filter((name) => !text.includes(`images/${name})`))).toEqual([])
})

test("every test that docs/promises.md names exists, and every promise names one", () => {
  const rows = read("docs/promises.md")
    .split("\n")
    .filter((line) => /^\| (?!promise|---)/.test(line))
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) {
    const tests = [...row.matchAll(/`((?:core|client|packs|adapters|apps|labs|test)\/[^`]+\.test\.ts)`/g)].map(
      ([, file]) => file!,
    )
    expect(tests, row).not.toEqual([])
    for (const file of tests) expect(existsSync(join(root, file)), file).toBe(true)
  }
})
