import { readFileSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs", "guide", "crashtest.md"), "utf8")
const files = [...page.matchAll(/```(?:ts|json) file=(\S+)\n([\s\S]*?)```/g)]
const printed = /The second command prints:\n\n```text\n([\s\S]*?)```/.exec(page)?.[1]

/** In the checkout, so that `zod` is found. */
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".docs-"))
  for (const [, name = "", text = ""] of files) await writeFile(join(folder, name), text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const crashtest = (pack: string, ...more: string[]) => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PACKS: pack }
  return new PawlProcess(["crashtest", "pay.json", "--every", "11", ...more], environment, { cwd: folder }).ended
}

test("finds a write that pays twice when its process is killed, as docs/guide/crashtest.md says; declared as such, it pays once", async () => {
  const slip = await crashtest("./payments.ts")
  expect(slip).toMatchObject({ code: 1, stdout: printed })
  // Two complete runs, one that had not started, and two that were killed after the payment and before it was recorded.
  expect(await readFile(join(folder, "payments.txt"), "utf8")).toBe("5\n".repeat(5))

  const code = await readFile(join(folder, "payments.ts"), "utf8")
  await writeFile(join(folder, "honest.ts"), code.replace('"run-again"', '"in-doubt"'))
  const honest = await crashtest("./honest.ts", "--json", "--jobs", "2")
  expect(honest.code).toBe(0)
  const same = { when: "before", reached: true, wasInDoubt: false, differences: [] }
  expect(JSON.parse(honest.stdout)).toEqual({
    ...{ agent: "cashier", say: ["Pay 5 cents."], killed: 2, differ: 0 },
    boundaries: [
      { ...same, at: 1, what: "conversation_started + run_started + message" },
      { ...same, at: 6, when: "after", what: "pay: appendFileSync", wasInDoubt: true },
    ],
  })
  expect(await readFile(join(folder, "payments.txt"), "utf8")).toBe("5\n".repeat(9))
}, 300_000)

test("the pack of docs/recipes/write-a-pack.md is killed at every write and applies its own once", async () => {
  const packs = readFileSync(join(root, "docs", "recipes", "write-a-pack.md"), "utf8")
  const [, code = ""] = /```ts file=books\.ts\n([\s\S]*?)```/.exec(packs) ?? []
  await writeFile(join(folder, "books.ts"), code)
  const environment = { PAWL_DATA: dataFolder(), PAWL_PACKS: "./books.ts" }
  const said = ["--agent", "librarian", "--say", "lend Dune to Grace", "--json", "--jobs", "2"]
  const played = await new PawlProcess(["crashtest", ...said], environment, { cwd: folder }).ended
  const { boundaries } = JSON.parse(played.stdout) as { boundaries: { what: string; differences: string[] }[] }
  expect(boundaries.filter(({ what }) => what === "lend_book: applyOnce")).toHaveLength(2)
  expect(boundaries.flatMap(({ differences }) => differences)).toEqual([])
  expect(played.code).toBe(0)
}, 300_000)

test("replays a recorded run as it went", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_LOG: "off" }
  await command(["exec", "--agent", "workspace", "--mode", "auto", "add a task: buy milk"], environment)
  const id = /run_[0-9A-Za-z]+/.exec((await command(["show", "--json"], environment)).stdout)?.[0] ?? ""
  const played = await new PawlProcess(["crashtest", id, "--every", "11", "--json"], environment).ended
  const { boundaries, ...rest } = JSON.parse(played.stdout) as { boundaries: { what: string }[] }
  expect([played.code, rest]).toEqual([0, { agent: "workspace", say: ["add a task: buy milk"], killed: 2, differ: 0 }])
  expect(boundaries[1]).toMatchObject({ at: 6, when: "after", what: "create_task: applyOnce", reached: true })
}, 300_000)
