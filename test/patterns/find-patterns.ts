import { readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { parseSync, Visitor } from "rolldown/utils"

const root = join(import.meta.dirname, "..", "..")

export interface Found {
  readonly at: string
  readonly file: string
  readonly source: string
  readonly flags: string
}

export interface Patterns {
  readonly written: readonly Found[]
  /** Files that put a pattern together when they run. */
  readonly made: readonly string[]
}

/** Every regular expression that stands in the code of these folders, tests left out. */
export function findPatterns(folders: readonly string[]): Patterns {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
      .map((name) => join(root, folder, name)),
  )
  const found = files.map((file) => patternsIn(relative(root, file).replaceAll(sep, "/"), readFileSync(file, "utf8")))
  return { written: found.flatMap(({ written }) => written), made: found.flatMap(({ made }) => made) }
}

export function patternsIn(file: string, text: string): Patterns {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`)
  const written: Found[] = []
  const made = new Set<string>()
  const note = (callee: object) => void ("name" in callee && callee.name === "RegExp" && made.add(file))
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return
      const { pattern, flags } = node.regex
      written.push({ at: `${file}:${text.slice(0, node.start).split("\n").length}`, file, source: pattern, flags })
    },
    NewExpression: ({ callee }) => note(callee),
    CallExpression: ({ callee }) => note(callee),
  }).visit(program)
  return { written, made: [...made] }
}
