import { describe, expect, test } from "vitest"
import { readFileSync } from "node:fs"
import { globSync } from "node:fs"
import { join } from "node:path"

// A program's name continued the sentence of the consent page.

const root = join(import.meta.dirname, "..", "..")
const read = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

/**
 * External text stands in an element of its own. Our own text in the same element is a label before it, which ends
 * with a colon, or a part that cannot be mistaken for more of the sentence.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  "apps/web/workspace/rows/full-text.tsx": "A text of the person's own row, alone in its element.",
}

/** One element's text with its `<Plain … />` in it, without line ends. */
const flat = (text: string) =>
  text
    .replaceAll(/\{\/\*[^]*?\*\/\}|^\s*\/\/.*$/gm, "")
    .replaceAll('{" "}', " ")
    .replaceAll(/\s+/g, " ")

function sentencesWith(text: string): string[] {
  // Up to the next bit of a program: what remains is text that is drawn.
  return Array.from(flat(text).matchAll(/([^<>{}]*)<Plain\b[^>]*\/>([^<>{}]*)/g), ([, before = "", after = ""]) => [
    before.replace(/.*(?:[=(&?|)]|\w: )| return /g, ""),
    after.replace(/(?: if \(| return |[=()?]| : | \w+:|, \w+:).*/, ""),
  ])
    .filter(
      ([before = "", after = ""]) =>
        (/[\p{L}“"‘']/u.test(before) && !/:\s*$/.test(before)) || /[\p{L}”"’']/u.test(after),
    )
    .map(([before, after]) => `${before}…${after}`.trim())
}

describe("external names", () => {
  test("are in no sentence of the page", () => {
    const found = read("apps/web/**/*.tsx").flatMap(({ path, text }) =>
      path in ALLOWED ? [] : sentencesWith(text).map((sentence) => `${path}: ${sentence}`),
    )
    expect(found).toEqual([])
    for (const path of Object.keys(ALLOWED))
      expect(sentencesWith(readFileSync(join(root, path), "utf8")), `${path} is allowed without need`).not.toEqual([])
  })

  test("are in no quotation marks, and in no toast", () => {
    // `quoted` of this file escapes what it quotes.
    const sources = read("apps/web/**/*.{ts,tsx}").filter(({ path }) => path !== "apps/web/strings/format.ts")
    const found = sources.flatMap(({ path, text }) =>
      Array.from(
        flat(text).matchAll(/[“]\$\{|“\{|\btoast\(`[^`]*\$\{[^}]*(?:name|title|label|deviceId)[^}]*\}/gi),
        ([each]) => `${path}: ${each}`,
      ),
    )
    expect(found).toEqual([])
  })

  test("are in no quotation marks of a catalogue: the value has passed through `quoted`", () => {
    const found = read("apps/web/strings/*/*.json").flatMap(({ path, text }) =>
      Array.from(text.matchAll(/[“„”«»]\{\w+\}|\\"\{\w+\}/g), ([each]) => `${path}: ${each}`),
    )
    expect(found).toEqual([])
  })

  test("are quoted with their quotation marks escaped in every request for approval", () => {
    const found = read("{core,client,packs,adapters,apps,labs}/**/*.ts").flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/\b(?:summary|title|label|sending): [^\n]*["“]\$\{(?!JSON)[^\n]*/g),
        ([each]) => `${path}: ${each}`,
      ),
    )
    expect(found).toEqual([])
  })

  test("are in no quotation marks of a terminal: the value has passed through `quote`", () => {
    const found = read("{apps/strings,apps/terminal,apps/cli,adapters}/**/*.ts").flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/["“]\$\{[^}]*(?:\b[tT]itle|\bsummary|\blabel)[^}]*\}/g),
        ([each]) => `${path}: ${each}`,
      ),
    )
    expect(found).toEqual([])
  })

  test("are in no sentence of the pages before sign-in", () => {
    const pages = read("core/server/routes/**/*.ts").filter(({ text }) => text.includes("standalonePage("))
    expect(pages.length).toBeGreaterThanOrEqual(4)
    const joined =
      /"[^"\n]* [^"\n]*" \+ (?!result\.tools\.length|ways\.oidc\.label)[a-z(]|(?<!result\.tools\.length) \+ "[^"\n]* [^"\n]*"/g
    const found = pages.flatMap(({ path, text }) => Array.from(text.matchAll(joined), ([each]) => `${path}: ${each}`))
    expect(found).toEqual([])
  })
})
