import { readdirSync, readFileSync } from "node:fs"
import { join, posix, sep } from "node:path"

/** Files by their path from the top of the repository, so that a test can plant some. */
export type Sources = Readonly<Record<string, string>>

export interface Import {
  readonly target: string
  readonly typeOnly: boolean
}

export const root = join(import.meta.dirname, "..", "..", "..")

export function readSources(folder: string): Sources {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8", withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = files.map((file) => [file.slice(root.length + 1).replaceAll(sep, "/"), readFileSync(file, "utf8")])
  return Object.fromEntries(read)
}

/** What a file imports: values and types, for an effect, and when it is first needed. */
export function importsOf(code: string): Import[] {
  const statement = /^\s*(?:import|export)\s+(type\s+)?(?=[\w$*{])[\w$*{}\s,]*?\bfrom\s*["']([^"']+)["']/gm
  const effectOrDynamic = /^\s*import\s*["']([^"']+)["']|\bimport\s*\(\s*["'`]([^"'`]+)["'`]/gm
  return [
    ...[...code.matchAll(statement)].map(([, type, target]) => ({ target: target!, typeOnly: type !== undefined })),
    ...[...code.matchAll(effectOrDynamic)].map(([, a, b]) => ({ target: (a ?? b)!, typeOnly: false })),
  ]
}

/** Comments start after white space or punctuation, which keeps urls and globs inside strings. */
export function withoutComments(source: string): string {
  return source.replace(/(?<=^|[\s,;{}()])(?:\/\*[\s\S]*?\*\/|\/\/.*)/gm, "")
}

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path)

/** The files of these that each of them imports, once each. */
export function importGraph(sources: Sources): ReadonlyMap<string, readonly string[]> {
  const code = Object.entries(sources).filter(([path]) => /\.tsx?$/.test(path))
  return new Map(
    code.map(([path, source]) => {
      const named = importsOf(withoutComments(source)).filter(({ target }) => target.startsWith("."))
      const targets = named.map(({ target }) => posix.join(posix.dirname(path), target))
      return [path, [...new Set(targets)].filter((target) => target in sources)]
    }),
  )
}
