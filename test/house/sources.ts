import { readdirSync, readFileSync } from "node:fs"
import { join, posix, sep } from "node:path"

/** Files by their path from the top of the repository, so that a test can plant some. */
export type Sources = Readonly<Record<string, string>>

export interface Import {
  readonly target: string
  readonly typeOnly: boolean
}

export const root = join(import.meta.dirname, "..", "..")

/** The folders whose code is part of a package. */
export const PROGRAM_FOLDERS = ["core", "client", "packs", "adapters", "apps", "labs"]

/** Files that npm needs in the folder of a library. */
const OF_LIBRARY = /^(?:core|client)\/(?:LICENSE|README\.md|package\.json)$/

/** Every source file of the packages but those of the page. */
export function readProgram(): Sources {
  const all = PROGRAM_FOLDERS.flatMap((folder) => Object.entries(readSources(folder)))
  return Object.fromEntries(all.filter(([path]) => !path.startsWith("apps/web/") && !OF_LIBRARY.test(path)))
}

export function readSources(folder: string): Sources {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8", withFileTypes: true })
  const built = join(root, folder, "dist") // what `npm pack` leaves in the folder of a library
  const files = names
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(built))
    .map((entry) => join(entry.parentPath, entry.name))
  const read = files.map((file) => [file.slice(root.length + 1).replaceAll(sep, "/"), readFileSync(file, "utf8")])
  return Object.fromEntries(read)
}

/** Returns the imports of a file: values and types, for side effects, and dynamic ones. */
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

/** Returns the files among these that each of them imports, once each. */
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

/** Returns the files that an entry loads: only its static imports, without types. */
export function loadedBy(entry: string): string[] {
  const sources = readProgram()
  const loaded = new Set<string>()
  const next = [entry]
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (loaded.has(path)) continue
    loaded.add(path)
    const imports = (sources[path] ?? "").matchAll(/^(?:import|export) (?!type )[^;"]*? from "(\.[^"]+)"/gms)
    for (const [, from] of imports) next.push(new URL(from!, `file:///${path}`).pathname.slice(1))
  }
  return [...loaded]
}
