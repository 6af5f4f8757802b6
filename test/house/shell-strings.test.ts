import { parseAst } from "rolldown/parseAst"
import { expect, test } from "vitest"
import { readSources } from "./sources.ts"

/**
 * Texts that people read in a shell belong in apps/strings. Lists files that still have some, with the number in
 * each, which must not rise. `apps/cli/settings` describes settings in the table from which their reference is
 * printed.
 */
const left: Readonly<Record<string, number>> = {
  "labs/crashtest/boundaries.ts": 1, // a bug
  "labs/crashtest/life-files.ts": 1, // in the reports of crashtest, which programs read
  "labs/crashtest/live.ts": 1, // the same
  "apps/cli/doctor/machine.ts": 1, // the end of a query
  "apps/cli/doctor/providers.ts": 2, // names in a file of the system
  "apps/cli/open/temporary-servers.ts": 1, // the description of an agent
  "apps/cli/process/command.ts": 1, // a message of Node that is recognized
}

/** Text for a database or another program, and for bugs that print a stack. */
const NOT_FOR_PEOPLE = [
  /^\s*(?:SELECT|PRAGMA) /,
  /^get the clipboard as «class PNGf»$/,
  /^more than a person waits for$/,
]

/** Three words in a row, outside of what a template fills in. */
const isSentence = (text: string) =>
  /[A-Za-z’']{2,}[,:;]? [A-Za-z’']+[,:;]? [A-Za-z’']{2,}/.test(text) && !NOT_FOR_PEOPLE.some((each) => each.test(text))

function textsIn(source: string): string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== "object" || node === null) return
    const { type, value } = node as { type?: string; value?: unknown }
    if (type === "ImportDeclaration" || type === "ImportExpression" || type === "TSLiteralType") return
    if (type === "Literal") return void (typeof value === "string" && found.push(value))
    if (type === "TemplateElement") return void found.push((value as { readonly cooked?: string }).cooked ?? "")
    Object.values(node).forEach(visit)
  }
  visit(parseAst(source, { lang: "ts" }).body)
  return found.filter(isSentence)
}

test("texts that people read in a shell are in apps/strings", () => {
  const sources = { ...readSources("apps/cli"), ...readSources("apps/terminal") }
  const counts = Object.entries(sources).flatMap(([path, source]) => {
    if (/\.(?:test|fixture)\.ts$/.test(path) || path.startsWith("apps/cli/settings/")) return []
    const texts = textsIn(source)
    return texts.length > (left[path] ?? 0) ? [`${path}: ${texts.join(" | ")}`] : []
  })
  expect(counts).toEqual([])
})

test("a sentence in the code is found, and names, addresses and SQL are not", () => {
  expect(textsIn('print("There is no server here.")')).toEqual(["There is no server here."])
  expect(textsIn("print(`${name} cannot be read: ${reason}`)")).toEqual([" cannot be read: "])
  expect(textsIn('query("SELECT name FROM migration"); import("./show-screen.ts"); type A = "one two three"')).toEqual(
    [],
  )
})
