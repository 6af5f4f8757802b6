import { expect, test } from "vitest"
import { coversCommand, whyNoPrefix } from "./proposal.ts"

const prefix = "npm test *"

test.each(["npm test", "npm test -- --run src/a.test.ts", "npm test CI=1", "npm test füße"])(
  "%j is covered",
  (line) => {
    expect(coversCommand({ prefix }, line)).toBe(true)
    expect(whyNoPrefix(prefix, line)).toBe(undefined)
  },
)

test.each([
  ...["npm tests", "npm", "npm install", "NPM TEST", " npm test", "npm test; rm a", "npm test && rm a", "npm test & a"],
  ...["npm test | sh", "npm test < a", "npm test > a", "npm test $HOME", "npm test $(rm a)", "npm test `rm a`"],
  ...["npm test (a)", "npm test {a,b}", "npm test\nrm a", "npm test a\n", "npm test a\rb", "npm test\ta", "npm test\0"],
  ...[
    'npm test "a"',
    "npm test 'a'",
    "npm test a\\",
    "npm test *",
    "npm test ?",
    "npm test [a]",
    "npm test ~",
    "npm test #",
  ],
  ...["npm test !", "npm test ^", "npm test \u2028rm", "npm test \u00a0a", "npm\ntest"],
])("%j is not covered", (line) => {
  expect(coversCommand({ prefix }, line)).toBe(false)
})

test("a command line matches only itself; a star in it is literal", () => {
  expect(coversCommand({ commandLine: "ls *" }, "ls *")).toBe(true)
  expect(coversCommand({ commandLine: "ls *" }, "ls a")).toBe(false)
  expect(coversCommand({}, "ls")).toBe(false)
})
