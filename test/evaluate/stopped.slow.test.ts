import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

const PACK = `import { defineAgent, definePack } from "pawl"
const agent = defineAgent({ name: "greeter", description: "Greets.", instructions: "Greet.", tools: [] })
export default definePack({ name: "greeter", open: () => ({ agents: [agent] }) })
`
const CASES = `
agent: greeter
concurrency: 1
cases:
  - { name: done, say: Hi, script: [Hello.], expect: { answer: hello } }
  - { name: at work, model: qwen/qwen3-8b, say: Hi, expect: { answer: hello } }
  - { name: never begun, say: Hi, script: [Hello.], expect: { answer: hello } }
`

test("Ctrl-C prints and saves the finished results, and nothing else; agents of packs are available", async () => {
  const [folder, temporary] = [dataFolder(), dataFolder()]
  const asked = Promise.withResolvers<void>()
  await using silent = await ProviderServer.open(() => asked.resolve()) // and never answers
  writeFileSync(join(folder, "greeter.ts"), PACK)
  writeFileSync(join(folder, "cases.yaml"), CASES)
  const settings = { PAWL_DATA: join(folder, "data"), PAWL_PACKS: "./greeter.ts", LM_STUDIO_ENDPOINT: silent.url }
  await using evaluating = new PawlProcess(
    ["eval", "cases.yaml", "--save", "report.json"],
    { ...settings, TMPDIR: temporary },
    { cwd: folder },
  )
  await asked.promise
  const { code, stdout, stderr } = await evaluating.kill("SIGINT")
  expect([code, stderr]).toEqual([130, "1/3 passed done · greeter · scripted\n"])
  expect(stdout).toMatch(/^✓ {2}done {2}greeter {2}scripted {3}1\/1/m)
  expect(stdout).toMatch(/^1 of 1 case passed, free, .* Not all of it was run: it was interrupted\.$/m)
  const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as {
    stopped: string
    results: unknown[]
  }
  expect([report.stopped, report.results.length]).toEqual(["it was interrupted", 1])
  expect(existsSync(join(folder, "data"))).toBe(false)
  expect(readdirSync(temporary)).toEqual([])
})
