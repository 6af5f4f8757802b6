import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { own } from "../../core/shared/text/json.ts"

/** `const NAME: Record<string, …>` at the top of a module: a table that names from outside may be looked up in. */
const TABLE = /^(?:export )?const (\w+): (?:Readonly<|Partial<)*Record<string,/gm

function lookupsIn(source: string): string[] {
  return Array.from(source.matchAll(TABLE), ([, name]) => name as string).flatMap((name) =>
    Array.from(source.matchAll(new RegExp(`\\b${name}\\[[^\\]]|\\bin ${name}\\b`, "g")), ([found]) => found),
  )
}

test("no lookup by name in an object also finds the properties that every object has", () => {
  const files = globSync(["{core,client,packs,adapters,labs}/**/*.ts", "apps/**/*.{ts,tsx}"]).filter(
    (path) => !/\.(test|fixture)\.ts$/.test(path),
  )
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((path) => lookupsIn(readFileSync(path, "utf8")).map((lookup) => `${path}: ${lookup}…`))
  // `own` of core/shared/text/json.ts, or a Map.
  expect(found).toEqual([])
})

test("the check finds such a lookup", () => {
  const table = "const WORDS: Readonly<Record<string, string>> = {}\n"
  expect(lookupsIn(`${table}const a = WORDS[given]`)).toEqual(["WORDS[g"])
  expect(lookupsIn(`${table}if (given in WORDS) {}`)).toEqual(["in WORDS"])
  expect(lookupsIn(`${table}const a = own(WORDS, given)`)).toEqual([])
})

test("an inherited property is not an entry of a table", () => {
  const table = { yes: "ja" }
  expect(own(table, "yes")).toBe("ja")
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"])
    expect(own(table, name)).toBeUndefined()
})
