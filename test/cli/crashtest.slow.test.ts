import { readFileSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs", "crashtest.md"), "utf8")
const files = [...page.matchAll(/```(?:ts|json) file=(\S+)\n([\s\S]*?)```/g)]
const printed = /The second prints\n\n```text\n([\s\S]*?)```/.exec(page)?.[1]

/** In the checkout, so that `zod` is found. */
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".docs-"))
  for (const [, name = "", text = ""] of files) await writeFile(join(folder, name), text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const crashtest = (pack: string) => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PACKS: pack }
  return new PawlProcess(["crashtest", "pay.json", "--every", "10", "--jobs", "2"], environment, { cwd: folder }).ended
}

test("a write that pays twice when its process is killed is found, as docs/crashtest.md says; declared as it is, it pays once", async () => {
  const slip = await crashtest("./payments.ts")
  expect(slip).toMatchObject({ code: 1, stdout: printed })
  // Twice whole, once where nothing had begun, and twice where it was killed before its result was on record.
  expect(await readFile(join(folder, "payments.txt"), "utf8")).toBe("5\n".repeat(5))

  const code = await readFile(join(folder, "payments.ts"), "utf8")
  await writeFile(join(folder, "honest.ts"), code.replace('"run-again"', '"in-doubt"'))
  const honest = await crashtest("./honest.ts")
  expect(honest.code).toBe(0)
  expect(honest.stdout).toMatch(/6 before +tool_end +same; a write was in doubt, and asked about/)
  expect(await readFile(join(folder, "payments.txt"), "utf8")).toBe("5\n".repeat(9))
}, 300_000)
