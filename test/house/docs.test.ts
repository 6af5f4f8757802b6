import { readdirSync } from "node:fs"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { examples, pages, runExample } from "../support/processes/doc-examples.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { isLong } from "../support/sizes.ts"

/**
 * Runs each `ts run` block of a page as a file of its own and expects the `text` block that follows it. The usual run does
 * so once, with the installed package (`package.slow.test.ts`); the long one with this checkout as well.
 */
describe("the example of", () => {
  /** What a first start and a token leave: each example begins with a copy of it. */
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
      "crashtest.md", // several files, and a command: test/cli/crashtest.slow.test.ts
      "cluster.md", // needs a PostgreSQL: test/cluster/other-nodes.test.ts
      "mcp-server.md", // needs the package of others: test/dialects/mcp/documented.test.ts
      "mcp.md", // needs servers of others: test/mcp/documented.test.ts
      "openai.md", // needs the package of others: test/dialects/openai/documented.test.ts
      "ag-ui.md", // the same: test/dialects/ag-ui/documented.test.ts
      "ai-sdk.md", // and test/dialects/ai-sdk/documented.test.ts
      "connect.md", // the lines of the page, by test/house/connect.test.ts
      "evaluations.md", // commands and files of cases, by test/evaluate/documented.test.ts
      "packs.md", // several files, by test/packs/documented.test.ts
      "telemetry.md", // needs a receiver: test/telemetry/run.test.ts
      "settings.md", // printed from the table of settings
      "speed.md", // what benchmarks have found
    ]
    expect([...new Set([...examples.map(({ page }) => page), ...otherwise])].sort()).toEqual([...pages].sort())
  })
})

test("no two decisions have one number", () => {
  const numbers = readdirSync(new URL("../../docs/decisions", import.meta.url)).map((name) => name.slice(0, 3))
  expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([])
})
