import { describe, expect, test } from "vitest"
import { readFlags, usageOf } from "./command.ts"

const read = (...words: string[]) =>
  readFlags(words, { days: { type: "string", short: "d" }, rows: { type: "boolean" }, json: { type: "boolean" } })

describe("wrong options are refused in a sentence that says what to do", () => {
  test.each([
    [["--days", "-3"], "--days needs a value. Write a value that starts with a dash as --days=-3."],
    [["-d", "-3"], "--days needs a value. Write a value that starts with a dash as --days=-3."],
    [["--days"], "--days needs a value."],
    [["--days", ""], "--days needs a value."],
    [["--days="], "--days needs a value."],
    [["--rows=1"], "--rows does not take a value."],
    [["--nope"], "Unknown option --nope."],
    [["--rwos"], 'Unknown option --rwos. Did you mean "--rows"?'],
    [["-x"], "Unknown option -x."],
  ])("%j: %s", (words, sentence) => {
    expect(() => read(...words)).toThrow(expect.objectContaining({ name: "UsageError", message: sentence }))
  })

  test("a value that starts with a dash is accepted after =", () => {
    expect(read("--days=-3").values.days).toBe("-3")
  })
})

describe("the usage that an error shows", () => {
  const help =
    "Usage: pawl mcp list\n       pawl mcp add NAME URL\n" +
    "       pawl mcp add NAME -- COMMAND\n       pawl mcp change NAME [--url URL]\n                       [--public]\n\nManages servers.\n"

  test("is the form that the first word selects, with its continuation lines", () => {
    expect(usageOf(help, ["change", "x"])).toBe(
      "Usage: pawl mcp change NAME [--url URL]\n                       [--public]",
    )
    expect(usageOf(help, ["add"])).toBe("Usage: pawl mcp add NAME URL\n       pawl mcp add NAME -- COMMAND")
  })

  test("is every form if no word selects one", () => {
    expect(usageOf(help, ["chnage"])).toBe(help.split("\n\n")[0])
    expect(usageOf(help, [])).toBe(help.split("\n\n")[0])
  })
})
