import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, test } from "vitest"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const pages = readdirSync(join(root, "docs")).filter((page) => page.endsWith(".md"))

const EXAMPLE = /```ts run(?<server> server)?\n(?<code>[\s\S]*?)```[\s\S]*?```text\n(?<output>[\s\S]*?)```/g

/** Runs each `ts run` block of a page as a file of its own and expects the `text` block that follows it. */
describe("the example of", () => {
  const examples = pages.flatMap((page) => {
    const text = readFileSync(join(root, "docs", page), "utf8")
    return [...text.matchAll(EXAMPLE)].map(({ groups = {} }, index) => {
      const { code = "", output, server } = groups
      return { page, example: index + 1, code, output, server: server !== undefined }
    })
  })

  /** What a first start and a token leave: each example begins with a copy of it. */
  const begun = dataFolder()
  let token: string
  beforeAll(async () => {
    token = (await pawl(["token", "create", "--user", "ada"], { PAWL_DATA: begun })).stdout.trim()
  }, 60_000)

  test.concurrent.each(examples)(
    "docs/$page, number $example, prints what the page says",
    async ({ code, output, server }) => {
      // Inside the checkout, so that `pawl` names this very package.
      const folder = await mkdtemp(join(root, "test", ".docs-"))
      try {
        const file = join(folder, "example.ts")
        await writeFile(file, code)
        // Examples play servers that Pawl connects to; the page that does says so.
        const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_ALLOW_PRIVATE_HOSTS: "127.0.0.1" }
        await cp(begun, settings.PAWL_DATA, { recursive: true })
        await using serving = server ? new PawlProcess(["serve"], settings) : undefined
        const url = (await serving?.says(/listening on (\S+)/))?.[1]
        const env = {
          ...process.env,
          ...(url ? { PAWL_URL: url, PAWL_TOKEN: token, PAWL_DATA: settings.PAWL_DATA } : {}),
        }
        const { stdout } = await run(process.execPath, ["--conditions=pawl-source", file], { cwd: root, env })
        expect(stdout).toBe(output)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    300_000, // several starts each, on a machine that may have one slow core
  )

  test("every page has an example that is run", () => {
    expect([...new Set(examples.map(({ page }) => page))].sort()).toEqual([...pages].sort())
  })
})
