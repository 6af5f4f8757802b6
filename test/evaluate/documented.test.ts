import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

const root = join(import.meta.dirname, "..", "..")
const page = readFileSync(join(root, "docs", "evaluations.md"), "utf8")
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

describe("docs/evaluations.md", () => {
  test.each(examples)("$line prints what the page says", async ({ line, printed }) => {
    const commands = line.split("; ").filter((each) => each !== "echo $?")
    const outcomes = []
    for (const each of commands) outcomes.push(await command(each.split(" ").slice(1), settings(), "", folder))
    const { stdout, stderr, code } = outcomes.at(-1)!
    const faults = stderr.split("\n").filter((told) => !/^\d+\/\d+ (?:passed|failed) /.test(told))
    expect(untimed(`${stdout}${faults.join("\n")}${code}\n`)).toBe(untimed(printed))
  })

  test("says all that it shows", () => expect(examples.length).toBe(4))
})

test.each(globSync("evals/*.yaml", { cwd: root }))("%s passes, without a provider", async (file) => {
  const { code, stdout, stderr } = await command(["eval", file, "--json"], settings(), "", root)
  const report = JSON.parse(stdout) as { passed: number; failed: number; costUsd: number }
  expect([code, report.failed, stderr.split("\n").filter((line) => line.includes("failed"))]).toEqual([0, 0, []])
  expect(report).toMatchObject({ costUsd: 0, isPartial: false })
  expect(report.passed).toBeGreaterThan(0)
})
