import { expect, test } from "vitest"
import { readFlags } from "./command.ts"

const read = (...words: string[]) =>
  readFlags("show", words, { days: { type: "string", short: "d" }, rows: { type: "boolean" } })

test("what does not fit is refused in one sentence that says what to do", () => {
  const help = "`pawl show --help` lists what it takes."
  const dash = `What begins with a dash is a flag of its own; as the value of --days it is written --days=-3. ${help}`
  expect(() => read("--days", "-3")).toThrow(dash)
  expect(() => read("-d", "-3")).toThrow(dash)
  expect(read("--days=-3").values.days).toBe("-3")
  expect(() => read("--nope")).toThrow(`Unknown option '--nope'. ${help}`)
  expect(() => read("--days")).toThrow(`Option '-d, --days <value>' argument missing. ${help}`)
})
