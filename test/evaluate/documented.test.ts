import { Ajv2020 } from "ajv/dist/2020.js"
import { parse } from "yaml"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

const root = join(import.meta.dirname, "..", "..")
const page = readFileSync(join(root, "docs", "guide", "evaluations.md"), "utf8")
const folder = dataFolder()
for (const [, name = "", text = ""] of page.matchAll(/```yaml file=(\S+)\n([\s\S]*?)```/g))
  writeFileSync(join(folder, name), text)

const settings = () => ({ PAWL_DATA: join(dataFolder(), "none"), PAWL_LOG: "off" })
/** Times differ, and with them how wide their columns are. */
const untimed = (text: string) => text.replaceAll(/ *\b[\d.]+ (?:ms|s)\b/g, " TIME").replaceAll(/ +p50 +/g, " p50 ")

const examples = [...page.matchAll(/```console\n\$ (?<line>.+)\n(?<printed>[\s\S]*?)```/g)].map(({ groups }) => ({
  line: groups?.line ?? "",
  printed: groups?.printed ?? "",
}))

describe("docs/guide/evaluations.md", () => {
  test.each(examples)("$line prints what the page shows", async ({ line, printed }) => {
    const commands = line.split("; ").filter((each) => each !== "echo $?")
    const outcomes = []
    for (const each of commands) outcomes.push(await command(each.split(" ").slice(1), settings(), "", folder))
    const { stdout, stderr, code } = outcomes.at(-1)!
    const faults = stderr.split("\n").filter((told) => !/^\d+\/\d+ (?:passed|failed) /.test(told))
    expect(untimed(`${stdout}${faults.join("\n")}${code}\n`)).toBe(untimed(printed))
  })

  test("the page has four examples", () => expect(examples.length).toBe(4))
})

test("the schema for editors accepts our cases, and refuses what the command refuses", async () => {
  const { code, stdout } = await command(["eval", "--schema"], settings())
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(stdout) as object)
  const fits = (file: string) => validate(parse(readFileSync(file, "utf8")))
  const ours = globSync(["evals/*.yaml"], { cwd: root }).map((file) => fits(join(root, file)))
  expect([code, ours, fits(join(folder, "wrong.yaml"))]).toEqual([0, ours.map(() => true), false])
})

test("an argument without a meaning is refused before any request", async () => {
  const refused = async (...words: string[]) => {
    const { code, stderr } = await command(["eval", join(folder, "tasks.yaml"), ...words], settings(), "", folder)
    return [code, stderr.split("\n")[0]]
  }
  expect(await refused("--repeat", "0")).toEqual([1, 'pawl: --repeat must be a whole number of at least 1, not "0".'])
  expect(await refused("--tolerate", "cost=20%")).toEqual([1, "pawl: --tolerate has no effect without --baseline."])
  expect(await refused("--baseline", "tasks.yaml")).toEqual([
    1,
    expect.stringContaining("tasks.yaml is not valid JSON"),
  ])
  expect(await refused("--save", "no/where.json")).toEqual([1, expect.stringContaining("--save cannot write")])
  expect(await refused("--filter", "zebra")).toEqual([1, expect.stringContaining("has zebra in its name")])
})

/** Two cases that cost this many dollars each, and the expected answer of the second. */
function dearFile(name: string, { dollars, second }: { dollars: number; second: string }): string {
  const path = join(folder, name)
  const script = {
    price: { input: dollars * 1000, output: 0 },
    replies: [{ says: "x", usage: { input: 1000, output: 0 } }],
  }
  const cases = ["a", "b"].map((each) => ({
    name: each,
    say: "Hi",
    script,
    expect: { answer: each === "a" ? "x" : second },
  }))
  writeFileSync(path, JSON.stringify({ agent: "workspace", concurrency: 1, cases }))
  return path
}

test("a case that a cost limit has skipped is reported, and not as a success", async () => {
  const file = dearFile("dear.json", { dollars: 1, second: "x" })
  const { code, stdout } = await command(["eval", file, "--max-cost", "1"], settings(), "", folder)
  expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([
    2,
    expect.stringMatching(/^1 of 1 case passed, \$1\.00, .* Not all of it was run: \$1 is spent\.$/),
  ])
})

test("regressions since an earlier report are printed, and set the exit code", async () => {
  const before = dearFile("before.json", { dollars: 1, second: "x" })
  const saved = await command(["eval", before, "--save", "earlier.json"], settings(), "", folder)
  const now = dearFile("now.json", { dollars: 2, second: "y" })
  const words = ["eval", now, "--baseline", "earlier.json"]
  const { code, stdout } = await command([...words, "--tolerate", "cost=20%"], settings(), "", folder)
  expect([saved.code, code, stdout.split("\n").filter((line) => line.startsWith("fell:"))]).toEqual([
    0,
    2,
    [
      "fell: b · workspace · scripted: it passed before",
      "fell: a · workspace · scripted: cost $2.00 (+100 %), and was $1.00; 20 % more is tolerated",
      "fell: b · workspace · scripted: cost $2.00 (+100 %), and was $1.00; 20 % more is tolerated",
    ],
  ])
  // The first case alone has no regression, because no tolerance for cost is set.
  expect((await command([...words, "--filter", "a"], settings(), "", folder)).code).toBe(0)
})

test.each(globSync("evals/*.yaml", { cwd: root }))("%s passes, without a provider", async (file) => {
  const { code, stdout, stderr } = await command(["eval", file, "--json"], settings(), "", root)
  const report = JSON.parse(stdout) as { passed: number; failed: number; costUsd: number }
  expect([code, report.failed, stderr.split("\n").filter((line) => line.includes("failed"))]).toEqual([0, 0, []])
  expect(report).toMatchObject({ costUsd: 0, stopped: null })
  expect(report.passed).toBeGreaterThan(0)
})
