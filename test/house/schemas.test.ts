import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { lifeNamed } from "../support/processes/package.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

const dist = dirname(lifeNamed("any"))
const entries = ["index.js", "client.js", "protocol.js", "device.js", "server.js", "testing.js"]
/** What each command loads. */
const commands = [...readFileSync(join(dist, "pawl.js"), "utf8").matchAll(/import\("\.\/([^"]+)"\)/g)].map(
  ([, file]) => file!,
)

/** Lists where our code makes a schema: zod tells each to whoever has put a `postProcessor` into its settings. */
const listing = `
  Error.stackTraceLimit = 50
  const made = []
  const isOurs = (line) => line.includes("/src/") && !line.includes("/node_modules/")
  const note = () => made.push(...new Error().stack.split("\\n").filter(isOurs).slice(0, 1))
  globalThis.__zod_globalConfig = { postProcessor: note }
`

/** Loads files. At the end one schema is asked for, to show that it would have been seen. */
const loading = `
  ${listing}
  const [dist, ...files] = process.argv.slice(1)
  for (const file of files) await import(dist + "/" + file)
  const atLoad = [...made]
  const { NewMessage } = await import(dist + "/protocol.js")
  NewMessage.parse({ text: "x" })
  process.stdout.write(JSON.stringify({ atLoad, later: made.length }), () => process.exit(0))
`

test("no schema is made by loading what we publish: each is, by whoever first asks it something", async () => {
  expect(commands.length).toBeGreaterThan(10)
  const words = ["--enable-source-maps", "--input-type=module", "-e", loading, dist, ...entries, ...commands]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: join(dist, "..") })
  const { atLoad, later } = JSON.parse(stdout) as { atLoad: readonly string[]; later: number }
  expect(atLoad).toEqual([])
  expect(later).toBeGreaterThan(10)
})

test("nor by a server, with all its agents and tools, before somebody asks it something", async () => {
  const told = `${listing} process.on("exit", () => process.stderr.write("made " + JSON.stringify(made) + "\\n"))`
  const NODE_OPTIONS = `--enable-source-maps --import=data:text/javascript,${encodeURIComponent(told)}`
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", NODE_OPTIONS })
  await server.says(/listening on/)
  const { stderr } = await server.kill("SIGTERM")
  expect(stderr.match(/^made .*$/gm)).toEqual(["made []"])
})
