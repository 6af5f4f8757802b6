/**
 * All static checks, then the tests: `node scripts/test.ts [--quick] [arguments of vitest]`.
 *
 * A failed check does not hide the next one. The last line is always `N passed, N failed`: the tests, with each failed
 * check, unloadable test file and error outside any test counted as one more failure.
 */
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { parseCLI, startVitest, type TestModule } from "vitest/node"
import manifest from "../package.json" with { type: "json" }

const root = join(import.meta.dirname, "..")
const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)

let failed = (["types", "lint", "format"] as const).filter((check) => !passes(check)).length

// A quick look is at one engine: the other one's tests are the same, and take longer.
const words = process.argv.slice(2)
if (words.includes("--quick")) process.env.PAWL_TEST_ENGINES = "sqlite"

const { filter, options } = parseCLI(["vitest", "run", ...words.filter((word) => word !== "--quick")])
const vitest = await startVitest(filter, { ...options, root })
const modules = vitest.state.getTestModules()
const passed = modules.reduce((sum, module) => sum + testsOf(module, "passed"), 0)
failed += modules.reduce((sum, module) => sum + failuresOf(module), 0) + vitest.state.getUnhandledErrors().length
// Whatever else made vitest unhappy (no test found, a set-up that threw) is a failure too.
if (process.exitCode && failed === 0) failed = 1

process.stdout.write(`${passed} passed, ${failed} failed\n`, () => process.exit(failed === 0 ? 0 : 1))

function passes(check: "types" | "lint" | "format"): boolean {
  console.log(`\n> ${check}: ${manifest.scripts[check]}`)
  const options = { cwd: root, stdio: "inherit", shell: true, env: { ...process.env, PATH: path } } as const
  return spawnSync(manifest.scripts[check], options).status === 0
}

function testsOf(module: TestModule, state: "passed" | "failed"): number {
  return [...module.children.allTests(state)].length
}

function failuresOf(module: TestModule): number {
  const tests = testsOf(module, "failed")
  return tests === 0 && module.state() === "failed" ? 1 : tests
}
