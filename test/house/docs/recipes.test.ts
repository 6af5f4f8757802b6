import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { settingTable } from "../../../apps/cli/settings/table.ts"
import { usageText } from "../../../apps/strings/usage.ts"
import { isTest, readProgram } from "../sources.ts"
import { CATALOGUE } from "../../../core/protocol/error-catalogue.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const folder = join(root, "docs", "recipes")
const recipes = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** All texts from which an error or a log event can come. */
const sources = [
  ...Object.entries(readProgram()).flatMap(([path, text]) => (path.endsWith(".ts") && !isTest(path) ? [text] : [])),
  read("compose.yaml"),
].join("\n")

const listed = [...usageText.help.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, command]) => command as string)
const NAMES_OF_EXAMPLES: readonly string[] = ["PAWL_URL", "PAWL_EXAMPLE", "PAWL_TEST_SEED"]

describe.each(recipes)("the recipe %s", (name) => {
  const text = read(join("docs/recipes", name))

  test("states what you get, what you need, how to check that it works, and what can go wrong", () => {
    const parts = [
      /^# .+\n\nYou get /,
      /\n\*\*You need:\*\* /,
      /\n## Check that it works\n/,
      /\n## What can go wrong\n[^#]*^- /m,
    ]
    expect(parts.filter((part) => !part.test(text))).toEqual([])
  })

  test("quotes errors as they are, by their text or their code", () => {
    const unknown = errorsIn(text).filter((quoted) => !isKnown(quoted))
    expect(unknown).toEqual([])
  })
})

test("a wrong quotation of an error is reported", () => {
  const section = (bullet: string) => errorsIn(`# X\n\n## What can go wrong\n\n- ${bullet}\n`)
  expect(section("`wrong_host`: y").every(isKnown)).toBe(true)
  expect(section("`bus_partial` in the log: y").every(isKnown)).toBe(true)
  expect(section('"There is no database at": y').every(isKnown)).toBe(true)
  expect(section('"There is no such sentence": y').every(isKnown)).toBe(false)
  expect(section("`wrong_hots`: y").every(isKnown)).toBe(false)
})

/** Texts and codes that the points of "What can go wrong" start with. */
function errorsIn(text: string): string[] {
  const section = text.split("\n## What can go wrong\n")[1]?.split("\n## ")[0] ?? ""
  const points = section.split(/^- /m).slice(1)
  return points.flatMap((point) => /^"([^"]+)"|^`([a-z]+(?:_[a-z]+)+)`/.exec(point)?.slice(1) ?? []).filter(Boolean)
}

const isKnown = (quoted: string): boolean =>
  quoted in CATALOGUE || quoted.split("…").every((fragment) => sources.includes(fragment.trim()))

describe.each(readdirSync(folder).filter((name) => name.endsWith(".md")))("docs/recipes/%s", (name) => {
  const text = read(join("docs/recipes", name))

  test("names settings, commands and files that exist", () => {
    const settings = [...text.matchAll(/\bPAWL_[A-Z_]+[A-Z]\b/g)].map(([setting]) => setting)
    const known = (name: string) => name in settingTable || NAMES_OF_EXAMPLES.includes(name)
    expect(settings.filter((setting) => !known(setting))).toEqual([])
    const commands = [...text.matchAll(/\bnpx pawl ([a-z][a-z-]*)/g)].map(([, command]) => command as string)
    expect(commands.filter((command) => command !== "help" && !listed.includes(command))).toEqual([])
    // In backticks, and in commands.
    const paths = [
      ...text.matchAll(
        /[\s`]((?:core|client|packs|adapters|apps|labs|test|docs|bench|bin|scripts|deploy|examples)\/[\w./-]*\w)(?=[\s`])/g,
      ),
    ]
    expect(paths.map(([, path]) => path as string).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

test("pages of the settings that recipes name exist", () => {
  const labels = new Set(Object.values(JSON.parse(read("apps/web/strings/en/settings.json")) as object))
  const named = readdirSync(folder).flatMap((name) =>
    [...read(join("docs/recipes", name)).matchAll(/\*Settings → ([^*→]+)\*/g)].map(([, label]) => label),
  )
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter((label) => label !== "Developer" && !labels.has(label))).toEqual([]) // Claude Desktop's
})

test("flags of commands exist", async () => {
  const line = new RegExp(`\\bpawl (${listed.join("|")})( [^\\n\`]*)`, "g")
  const used = readdirSync(folder).flatMap((name) =>
    [...read(join("docs/recipes", name)).matchAll(line)].map(([, command = "", rest = ""]) => {
      const own = rest.split(" -- ")[0] as string // what follows is the command of a program
      return { name, command, flags: [...own.matchAll(/(?<= )--[a-z-]+/g)].map(([flag]) => flag) }
    }),
  )
  expect(used.flatMap(({ flags }) => flags).length).toBeGreaterThan(20)
  const unknown: object[] = []
  for (const { name, command, flags } of used) {
    const { help } = (await import(`../../../apps/cli/commands/${command}.ts`)) as { help: string }
    for (const flag of flags) if (!new RegExp(`${flag}\\b`).test(help)) unknown.push({ name, command, flag })
  }
  expect(unknown).toEqual([])
})

test("the index of recipes names each of them once", () => {
  const links = [...read("docs/recipes/README.md").matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, link]) => link)
  expect(links.toSorted()).toEqual(recipes.toSorted())
})
