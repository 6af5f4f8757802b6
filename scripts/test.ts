/**
 * All static checks, and the tests in parallel: `node scripts/test.ts [--quick] [--long] [arguments of vitest]`.
 *
 * A failed check does not hide the next one. The last line is always `N passed, N failed`: the tests, with each failed
 * check, unloadable test file and error outside any test counted as one more failure.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { delimiter, join } from "node:path"
import { parseCLI, startVitest, type TestModule } from "vitest/node"
import manifest from "../package.json" with { type: "json" }
import { leftOut, seedOfRun } from "../test/support/sampling.ts"

const root = join(import.meta.dirname, "..")
const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)

const words = process.argv.slice(2)
const isQuick = words.includes("--quick")
const isLong = words.includes("--long")
const { lint, format } = manifest.scripts
// The linter needs the types anyway and uses the compiler's code, so `npm run types` would repeat the work.
const checks = { lint: `${lint} --type-check`, format }
// Concurrent with the tests: each of the checks uses only one core at times.
const checked = Promise.all(Object.entries(checks).map(run))

// On one engine: the other one runs the same tests, and takes longer.
if (isQuick) process.env.PAWL_TEST_ENGINES = "sqlite"
// Property tests with all cases, and tests that usually run on one engine on both: `test/support/sizes.ts`.
if (isLong) process.env.PAWL_TEST_LONG = "1"

const ours = ["--quick", "--long"]
const { filter, options } = parseCLI(["vitest", "run", ...words.filter((word) => !ours.includes(word))])
// The slow files run among the others, in the same workers.
if (filter.length === 0 && !isQuick && options.project === undefined) process.env.PAWL_TEST_WHOLE = "1"
// Leaves out slow files that seldom fail, usually a quarter of the time. A named file always runs.
if (filter.length === 0 && !isQuick && !isLong) leaveOut()
const vitest = await startVitest(filter, { ...options, root })
const modules = vitest.state.getTestModules()
const passed = modules.reduce((sum, module) => sum + testsOf(module, "passed"), 0)
// Failures were printed when they were found. They are repeated because thousands of lines may have followed.
const failedChecks = (await checked).filter(({ code }) => code !== 0)
for (const check of failedChecks) tell(check)
const flaky = modules.flatMap((module) =>
  [...module.children.allTests("passed")].filter((test) => test.diagnostic()?.flaky),
)
if (flaky.length > 0) {
  const names = flaky.map((test) => `${test.module.relativeModuleId} > ${test.fullName}`)
  console.log(`\nFlaky, passed when they ran a second time:\n  ${names.join("\n  ")}`)
}
let failed = failedChecks.length
failed += modules.reduce((sum, module) => sum + failuresOf(module), 0) + vitest.state.getUnhandledErrors().length
// Other problems of vitest (no test found, a failed set-up) are failures too.
if (process.exitCode && failed === 0) failed = 1

process.stdout.write(`${passed} passed, ${failed} failed\n`, () => process.exit(failed === 0 ? 0 : 1))

interface Check {
  readonly title: string
  readonly said: string
  readonly code: number | string | null
}

/** `vitest.config.ts` reads the seed. It is the same for everyone, also without a commit to derive it from. */
function leaveOut(): void {
  const seed = seedOfRun()
  const files = leftOut(seed)
  process.env.PAWL_TEST_SEED = String(seed)
  process.env.PAWL_TEST_LEFT_OUT = files.join()
  console.log(`Left out by the seed, and part of npm run test:long:\n  ${files.join("\n  ")}`)
}

async function run([check, command]: [string, string]): Promise<Check> {
  // With a pipe they print no colours, and their output is not mixed with that of others.
  const child = spawn(`${command} 2>&1`, { cwd: root, shell: true, env: { ...process.env, PATH: path } })
  const ended = once(child, "exit").catch((error: Error) => [`could not be started: ${error.message}`])
  const [said, [code]] = (await Promise.all([text(child.stdout), ended])) as [string, [number | string | null]]
  const done = { title: `${check}: ${command}`, said, code }
  tell(done)
  return done
}

function tell({ title, said, code }: Check): void {
  console.log(`\n> ${title}${code === 0 ? "" : ` (failed: ${code})`}\n${said}`)
}

function testsOf(module: TestModule, state: "passed" | "failed"): number {
  return [...module.children.allTests(state)].length
}

function failuresOf(module: TestModule): number {
  const tests = testsOf(module, "failed")
  return tests === 0 && module.state() === "failed" ? 1 : tests
}
