import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { lifeNamed } from "../support/processes/package.ts"

const dist = dirname(lifeNamed("any"))
const entries = ["index.js", "client.js", "protocol.js", "device.js", "server.js", "testing.js"]
/** What each command loads, but for one that waits for models for minutes. */
const commands = [...readFileSync(join(dist, "pawl.js"), "utf8").matchAll(/import\("\.\/([^"]+)"\)/g)]
  .map(([, file]) => file!)
  .filter((file) => !file.startsWith("eval-"))

/**
 * Loads what is published in a process of its own, and lists where our code makes a schema in the meantime: zod tells each to
 * whoever has put a `postProcessor` into its settings. At the end one is asked for, to show that it would have been seen.
 */
const program = `
  Error.stackTraceLimit = 50
  const made = []
  const isOurs = (line) => line.includes("/src/") && !line.includes("/node_modules/")
  const note = () => made.push(...new Error().stack.split("\\n").filter(isOurs).slice(0, 1))
  globalThis.__zod_globalConfig = { postProcessor: note }
  const [dist, ...files] = process.argv.slice(1)
  for (const file of files) await import(dist + "/" + file)
  const atLoad = [...made]
  const { NewMessage } = await import(dist + "/protocol.js")
  NewMessage.parse({ text: "x" })
  process.stdout.write(JSON.stringify({ atLoad, later: made.length }), () => process.exit(0))
`

test("no schema is made by loading what we publish: each is, by whoever first asks it something", async () => {
  expect(commands.length).toBeGreaterThan(10)
  const words = ["--enable-source-maps", "--input-type=module", "-e", program, dist, ...entries, ...commands]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: join(dist, "..") })
  const { atLoad, later } = JSON.parse(stdout) as { atLoad: readonly string[]; later: number }
  expect(atLoad).toEqual([])
  expect(later).toBeGreaterThan(10)
})
