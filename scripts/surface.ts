import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  API,
  type Checker,
  NodeBuilderFlags,
  type Project,
  type Symbol as Named,
  SymbolFlags,
} from "typescript/unstable/sync"
import { libraries, pawl, specifierOf } from "./entries.ts"

const root = join(import.meta.dirname, "..")

/** The source of each entry, by its specifier. */
const entries: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.values(libraries), pawl].flatMap(({ manifest: { name }, entries: all }) =>
    Object.entries(all)
      .filter(([, source]) => name !== "pawl" || !isOfLibrary(source))
      .map(([entry, source]) => [specifierOf(name, entry), source]),
  ),
)

/** `pawl` exports the libraries as well: their entries are printed once. */
function isOfLibrary(source: string): boolean {
  return Object.values(libraries).some((library) => Object.values(library.entries).includes(source))
}

/** Entries for programs: all types that they use must be importable, and they export only these. */
const WHOLE: readonly string[] = ["@pawl/core", "pawl/server", "@pawl/core/testing"]

/** Types of other packages, which are installed with ours. */
const FROM_PACKAGES = ["LanguageModelV4", "ZodType", "ZodTypeInternals"]

const FULL = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias | NodeBuilderFlags.MultilineObjectLiterals

export interface Surface {
  /** Every entry with its exports and their types. */
  readonly text: string
  /** Types in a signature that cannot be imported, and importable types that no signature uses. */
  readonly faults: readonly string[]
}

/** All names that other programs can import, read from the sources by the compiler. */
export function readSurface(): Surface {
  const folder = mkdtempSync(join(root, "node_modules", ".surface-"))
  const config = join(folder, "tsconfig.json")
  const files = Object.values(entries).map((source) => join(root, source))
  writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), include: [], files }))
  const api = new API({ cwd: root })
  try {
    const project = api.updateSnapshot({ openProject: config }).getProject(config)
    if (!project) throw new Error(`There is no project in ${config}.`)
    const read = Object.entries(entries).map(([name, source]) => ({ name, exports: readEntry(project, source) }))
    const { checker } = project
    const isGlobal = (name: string) => checker.resolveName(name, SymbolFlags.Type | SymbolFlags.Namespace) !== undefined
    const faults = read.filter(({ name }) => WHOLE.includes(name)).flatMap((entry) => faultsOf(entry, isGlobal))
    return { text: [HEAD, ...read.map(toSection)].join("\n"), faults }
  } finally {
    api.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const HEAD = `# What other programs can import

Printed by \`npm run api\` and compared by a test: a change of it is a change for everybody who uses it.
`

interface Exported {
  readonly name: string
  readonly isValue: boolean
  readonly text: string
}

interface Entry {
  readonly name: string
  readonly exports: readonly Exported[]
}

function readEntry({ checker, program }: Project, source: string): Exported[] {
  const file = program.getSourceFile(join(root, source))
  const module = file && checker.getSymbolAtLocation(file)
  if (!module) throw new Error(`${source} exports nothing.`)
  const printed = checker.getExportsOfModule(module).map((exported) => {
    const target = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    return {
      name: exported.name,
      isValue: (target.flags & SymbolFlags.Value) !== 0,
      text: print(checker, exported.name, target),
    }
  })
  return printed.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function print(checker: Checker, name: string, symbol: Named): string {
  const { flags } = symbol
  const parts: string[] = []
  if (flags & SymbolFlags.Class) parts.push(`class ${name} ${members(checker, symbol)}`)
  else if (flags & SymbolFlags.Value) parts.push(`const ${name}: ${valueType(checker, symbol)}`)
  if (flags & SymbolFlags.Interface) parts.push(`interface ${name}${parametersOf(symbol)} ${members(checker, symbol)}`)
  if (flags & SymbolFlags.TypeAlias) {
    const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, FULL)
    parts.push(`type ${name}${parametersOf(symbol)} = ${shortened(type)}`)
  }
  // The compiler prints the local path of a type that the entry does not export.
  return parts.join("\n").replaceAll(/import\("[^"]*"\)\./g, "")
}

/** A schema is printed as "a zod schema": the type of the same name shows its fields. */
function valueType(checker: Checker, symbol: Named): string {
  const type = checker.getTypeOfSymbol(symbol)
  const text = type ? checker.typeToString(type, undefined, NodeBuilderFlags.NoTruncation) : "unknown"
  return /^(z\.)?Zod\w+/.test(text) ? "a zod schema" : shortened(text)
}

/** Shortens what is derived from the table of routes and frames, which docs/reference/openapi.json describes. */
const shortened = (text: string): string =>
  text.length > MOST ? `${text.slice(0, 200)} … (${text.length} characters)` : text
const MOST = 30_000

/** The compiler's flag for a property that a mapped type has made read-only. */
const READ_ONLY = 8

/** Includes the inherited members. */
function members(checker: Checker, symbol: Named): string {
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const lines = checker.getPropertiesOfType(type).flatMap((property) => {
    const source = declarationOf(property)
    if (/^(private|protected) /.test(source) || property.name.startsWith("__#")) return []
    const of = checker.getTypeOfSymbol(property)
    const text = of ? checker.typeToString(of, undefined, NodeBuilderFlags.NoTruncation) : "unknown"
    const readonly = /^readonly /.test(source) || property.checkFlags & READ_ONLY ? "readonly " : ""
    const optional = property.flags & SymbolFlags.Optional ? "?" : ""
    const name = property.name.startsWith("__@") ? `[Symbol.${property.name.slice(3).split("@")[0]}]` : property.name
    return [`  ${readonly}${name}${optional}: ${text}`]
  })
  return lines.length > 0 ? `{\n${lines.join("\n")}\n}` : "{}"
}

/** `<Input, Result = unknown>`, as in the source. */
function parametersOf(symbol: Named): string {
  const [, rest = ""] = /^(?:export\s+)?(?:interface|type)\s+\w+([^]*)/.exec(declarationOf(symbol)) ?? []
  if (!rest.startsWith("<")) return ""
  let depth = 0
  const end = [...rest].findIndex((sign, at) => {
    if (sign === "<") depth++
    if (sign === ">" && rest[at - 1] !== "=") depth--
    return depth === 0
  })
  return rest.slice(0, end + 1)
}

function declarationOf(symbol: Named): string {
  const node = symbol.declarations[0]?.resolve()
  const file = node?.getSourceFile()
  return node && file ? file.text.slice(node.getStart(file), node.end) : ""
}

const toSection = ({ name, exports }: Entry): string =>
  [`## ${name} (${entries[name]})`, "", "```ts", ...exports.map(({ text }) => text), "```", ""].join("\n")

/** Pure, so that a test can pass faulty entries. */
export function faultsOf({ name: entry, exports }: Entry, isGlobal: (name: string) => boolean): string[] {
  const names = new Set(exports.map(({ name }) => name))
  const used = new Set(exports.flatMap(({ name, text }) => namesIn(text).filter((other) => other !== name)))
  const missing = [...used].filter((name) => !names.has(name) && !FROM_PACKAGES.includes(name) && !isGlobal(name))
  const idle = exports.filter(({ name, isValue }) => !isValue && !used.has(name))
  return [
    ...missing.map((name) => `${entry}: ${name} stands in a signature and is not exported`),
    ...idle.map(({ name }) => `${entry}: ${name} is exported and stands in no signature`),
  ]
}

/** The names of types in a signature: capitalized words that are not strings, properties or its own type parameters. */
function namesIn(text: string): string[] {
  const code = text.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  const lists = [...code.matchAll(/(?:^(?:interface|type) \w+|: |=> |\| |\{ )<([^()]*?)>(?=\(| [={])/gm)].map(
    ([, list = ""]) => list,
  )
  const own = new Set([
    ...lists.flatMap((list) => [...list.matchAll(/(?:^|,)\s*([A-Z]\w*)/g)].map(([, name]) => name)),
    ...[...code.matchAll(/(?:infer |\[)([A-Z]\w*)/g)].map(([, name]) => name),
  ])
  const found = [...code.matchAll(/(?<![.\w])([A-Z]\w*)(?!\w*\??:)/g)].map(([, name]) => name as string)
  return found.filter((name) => !own.has(name))
}
