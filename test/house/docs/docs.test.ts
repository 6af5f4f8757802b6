import { globSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { examples, pages, runExample } from "../../support/processes/doc-examples.ts"
import { dataFolder } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"
import { isLong } from "../../support/sizes.ts"

/**
 * Runs each `ts run` block of a page as a file of its own and expects the `text` block that follows it. The usual run does
 * so once, with the installed package (`package.slow.test.ts`); the long one with this checkout as well.
 */
describe("the example of", () => {
  /** The data folder after a first start and a token: each example starts with a copy of it. */
  const begun = dataFolder()
  let token: string
  beforeAll(async () => {
    if (isLong) token = await tokenFor({ PAWL_DATA: begun })
  }, 120_000)

  test.runIf(isLong).concurrent.each(examples)(
    "docs/$page, number $example, prints what the page says",
    async (example) => {
      // Inside the package that is built of this checkout, so that `pawl` names it.
      const folder = inject("package")
      expect(await runExample(example, { folder, begun, token })).toBe(example.output)
    },
    300_000, // several starts each, on a machine that may have one slow core
  )

  test("every page has an example that is run, or is kept true in another way", () => {
    const otherwise = [
      "guide/coming-from/ai-sdk.md", // programs of two sides: test/api/coming-from.test.ts, as the next
      "guide/coming-from/mastra.md",
      "guide/coming-from/openai-agents.md",
      "guide/crashtest.md", // several files, and a command: test/cli/crashtest.slow.test.ts
      "reference/cluster.md", // needs a PostgreSQL: test/cluster/other-nodes.test.ts
      "reference/ag-ui.md", // needs the package of others: test/dialects/ag-ui/documented.test.ts
      "reference/ai-sdk.md", // and test/dialects/ai-sdk/documented.test.ts
      "reference/approvals.md", // routes of guide/approvals.md: test/server
      "reference/charts.md", // test/web/data/chart-specs.test.ts and packs/analyst/charts
      "reference/citations.md", // core/engine/cite and test/research
      "reference/documents.md", // test/research; its figures by test/research/cranfield.slow.test.ts
      "reference/attachments.md", // test/server/files-folder.test.ts and core/server/files
      "reference/sandbox.md", // test/files and packs/files
      "reference/databases.md", // test/analyst
      "reference/thread-routes.md", // test/server/threads
      "reference/runs.md", // routes of guide/runs.md: test/server
      "reference/authentication.md", // test/people
      "reference/failures.md", // test/recovery, test/store and test/cluster
      "reference/mcp-endpoint.md", // test/dialects/mcp/documented.test.ts
      "reference/mcp-servers.md", // needs servers of others: test/mcp/documented.test.ts
      "reference/metrics.md", // test/server/metrics.test.ts
      "reference/models.md", // test/models and core/models
      "reference/openai-api.md", // test/dialects/openai/documented.test.ts
      "reference/packs.md", // test/packs
      "reference/traces.md", // test/telemetry/run.test.ts
      "reference/evaluation-files.md", // labs/evaluate/file and test/evaluate
      "guide/evaluations.md", // commands and files of cases, by test/evaluate/documented.test.ts
      "reference/surface.md", // printed by npm run api
      "reference/commands.md", // printed by npm run reference, like the next three
      "reference/errors.md",
      "reference/events.md",
      "reference/routes.md",
      "reference/settings.md", // printed from the table of settings
      "speed.md", // what benchmarks have found
      "README.md", // links, by test/house/docs/links.test.ts
      "promises.md", // names of tests, by test/house/docs/readme.test.ts
      "comparisons.md", // what benchmarks have found, and sizes, by package.slow.test.ts
      "guide/concepts.md", // words
    ]
    // Recipes are kept true by test/house/docs/recipes.test.ts, and by tests of their own.
    const withoutRecipes = (names: readonly string[]) => names.filter((page) => !page.startsWith("recipes/"))
    const shown = withoutRecipes(examples.map(({ page }) => page))
    expect([...new Set([...shown, ...otherwise])].sort()).toEqual(withoutRecipes(pages).sort())
  })
})

describe("the decisions", () => {
  const folder = new URL("../../../docs/decisions/", import.meta.url)
  const files = readdirSync(folder).filter((name) => name !== "README.md")
  const read = (name: string) => readFileSync(new URL(name, folder), "utf8")

  test("have unique numbers", () => {
    const numbers = files.map((name) => name.slice(0, 3))
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([])
  })

  test.each(files)("%s states its decision in the title, then context, decision and consequences", (name) => {
    expect(problemsOf(name, read(name))).toEqual([])
  })

  test("are all listed in the README, by their titles", () => {
    const index = read("README.md")
    const lines = files.map((name) => `[${titleIn(read(name))?.slice(2)}](${name})`)
    expect(lines.filter((line) => !index.includes(line))).toEqual([])
  })

  test("are mentioned by file names that exist", () => {
    const root = fileURLToPath(new URL("../../../", import.meta.url))
    const mention =
      /\bdecisions\/(?<path>\d[\w-]*(?:\.md)?)|\]\((?<link>\d{3}-[\w.-]+)\)|\bdecision \[?(?<number>\d{3})/gi
    const pages = globSync(
      ["*.md", "{docs,core,client,packs,adapters,apps,labs,test,scripts,bench}/**/*.{md,ts,tsx,js}"],
      { cwd: root },
    )
    const broken = pages.flatMap((page) => {
      if (page === "CHANGELOG.md") return []
      const found = [...readFileSync(root + page, "utf8").matchAll(mention)].map(({ groups }) => groups ?? {})
      const names = found.map(({ path, link, number }) => path ?? link ?? `${number} (name its file)`)
      return names.filter((name) => !files.includes(name)).map((name) => `${page}: ${name}`)
    })
    expect(broken).toEqual([])
  })
})

test.each<[wrong: string, name: string, page: string, problem: string]>([
  ["another number", "002-keep-it.md", decision("# 001. Keep it small"), "title"],
  ["a title that is too short", "001-keep-it.md", decision("# 001. Snapshots"), "title"],
  ["no number in its title", "001-keep-it.md", decision("# Keep it small"), "title"],
  ["headings in another order", "001-keep-it.md", "# 001. Keep it small\n\n## Decision\n\n## Context\n", "headings"],
  ["a heading of its own", "001-keep-it.md", `${decision("# 001. Keep it small")}## Cost\n`, "headings"],
  ["more than half a page", "001-keep-it.md", `${decision("# 001. Keep it small")}${"long ".repeat(400)}`, "length"],
])("a decision with %s is refused", (_, name, page, problem) => {
  expect(problemsOf(name, page)).toEqual([problem])
})

function decision(title: string): string {
  return `${title}\n\n## Context\nIt grew.\n\n## Decision\nIt stays small.\n\n## Consequences\nFewer things.\n\n`
}

function titleIn(page: string): string | undefined {
  return page.split("\n", 1)[0]
}

/** Whether the title is an imperative that says what was decided is for a reader to judge. */
function problemsOf(name: string, page: string): string[] {
  const { number, words = "" } = /^# (?<number>\d{3})\. (?<words>\S.*)$/.exec(titleIn(page) ?? "")?.groups ?? {}
  const count = words.split(" ").length
  const headings = page.match(/^##+ .*$/gm) ?? []
  return [
    ...(number === name.slice(0, 3) && count >= 3 && count <= 10 ? [] : ["title"]),
    ...(headings.join() === "## Context,## Decision,## Consequences" ? [] : ["headings"]),
    ...(page.split(/\s+/).length <= 400 ? [] : ["length"]),
  ]
}
