import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** In the checkout, so that packs can resolve zod. */
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".docs-"))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The second one is a package that only supports `import`. */
const files = {
  "greeter.ts": `import { z } from "zod"
    import { answer, defineAgent, definePack, defineTool } from "pawl"
    const input = z.object({ name: z.string() })
    const greet = defineTool<{ name: string }>({
      name: "greet", description: "Greets.", input, effect: "read", afterCrash: "run-again", examples: ["greet Ada"],
      run: ({ name }) => answer(\`Hello, \${name}.\`),
    })
    const agent = defineAgent({ name: "greeter", description: "Greets.", instructions: "Greet.", tools: [greet] })
    export default definePack({ name: "greeter", open: () => ({ agents: [agent] }) })`,
  "node_modules/@acme/pawl-pack/package.json": `{ "name": "@acme/pawl-pack", "type": "module", "exports": { ".": { "import": "./main.js" } } }`,
  "node_modules/@acme/pawl-pack/main.js": `import { definePack } from "pawl"
    export default definePack({ name: "acme", open: () => ({ agents: [] }) })`,
  "hangs.ts": `setInterval(() => {}, 1000)
    export default { name: "hangs", open() { setInterval(() => {}, 1000); throw new Error("no key") } }`,
  "stray.ts": `export default { name: "stray", open() {
      setTimeout(() => void Promise.reject(new Error("a stray of a pack")), 0)
      return { agents: [] }
    } }`,
  "twice.ts": `import { z } from "zod"
    import { answer, defineAgent, definePack, defineTool } from "pawl"
    const tool = defineTool({ name: "look", description: "d", input: z.object({}), effect: "read", afterCrash: "run-again", run: () => answer("") })
    export default definePack({ name: "twice", open: () => ({ agents: [defineAgent({ name: "twice", description: "d", instructions: "", tools: [tool, tool] })] }) })`,
}

const run = (words: string[], packs: string) =>
  new PawlProcess(words, { PAWL_PACKS: packs, PAWL_DATA: dataFolder(), PAWL_PORT: "0" }, { cwd: folder }).ended

test("exec runs the agent of a pack, written in TypeScript, and the offline model calls its tool by name", async () => {
  const { code, stdout, stderr } = await run(["exec", "greet Ada", "--agent", "greeter"], "./greeter.ts")
  expect([code, stdout], stderr).toEqual([0, "Hello, Ada.\n"])
})

test("doctor lists the loaded packs, including packages of the folder", async () => {
  const { code, stdout } = await run(["doctor"], "./greeter.ts, @acme/pawl-pack")
  expect(code).toBe(0)
  expect(stdout).toContain(
    "packs: workspace, analyst, research, files, greeter, acme (./greeter.ts, @acme/pawl-pack from PAWL_PACKS)",
  )
})

test.each([
  ["serve", ["serve"]],
  ["exec", ["exec", "hello"]],
])(
  "%s exits at once with 1 and one sentence if a pack is refused, even if the pack keeps handles open",
  async (_, words) => {
    const { code, stderr } = await run(words, "./hangs.ts")
    expect(code).toBe(1)
    expect(stderr).toContain(
      "pawl: The pack ./hangs.ts in PAWL_PACKS could not be loaded: open() failed: no key. To fix it: fix the pack, or remove it from PAWL_PACKS.",
    )
    expect(stderr).not.toContain("    at ")
  },
)

test("two tools of one name are refused", async () => {
  const { code, stderr } = await run(["serve"], "./twice.ts")
  expect(code).toBe(1)
  expect(stderr).toContain(
    'The pack ./twice.ts in PAWL_PACKS could not be loaded: open() failed: Two tools are called "look"; rename one.',
  )
})

test("doctor reports what is wrong with a pack, and exits", async () => {
  const { code, stdout } = await run(["doctor"], "./hangs.ts")
  expect(code).toBe(1)
  expect(stdout).toContain("wrong The pack ./hangs.ts in PAWL_PACKS could not be loaded")
})

test("a server logs an unhandled rejection, and continues to serve", async () => {
  await using server = new PawlProcess(
    ["serve"],
    { PAWL_PACKS: "./stray.ts", PAWL_DATA: dataFolder(), PAWL_PORT: "0" },
    { cwd: folder },
  )
  const [, url] = await server.says(/listening on (\S+)/)
  await server.says(/"event":"unhandled_rejection".*a stray of a pack/)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})
