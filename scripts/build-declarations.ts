import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { promisify } from "node:util"
import { parseAst } from "rolldown/parseAst"
import { type Package, sourceOfSpecifier } from "./entries.ts"

const root = join(import.meta.dirname, "..")
const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
/** An import of another file. The second form is what TypeScript writes for a type without an import. */
const NAMED = /(\bfrom |\bimport\()"(\.[^"]+)\.ts"/g
/** One of our own packages, whose declarations are copied as well. */
const OURS = /(\bfrom |\bimport\()"(@pawl\/[^"]+)"/g
/** An import for its side effects, which a declaration does not need. */
const FOR_EFFECT = /^import "\.[^"]+";\n/gm
/** Types of packages that are bundled and not installed. No signature for programs names them. */
const BUNDLED = /^import (?:type )?\{([^}]*)\} from "(?:@ai-sdk\/provider|@modelcontextprotocol\/client|hono)";$/gm
const OF_NODE = /"node:|\b(Buffer|NodeJS)\b/

/** Writes the declarations of these entries: one file for each entry, and a folder for the files that they import. */
export async function buildDeclarations(dist: string, entries: Package["entries"]): Promise<void> {
  const made = await mkdtemp(join(root, "node_modules", ".declarations-"))
  try {
    await writeFile(join(made, "tsconfig.json"), JSON.stringify(settings(made, entries)))
    await promisify(execFile)(process.execPath, [compiler, "-p", made]).catch(tell)
    const written = new Map<string, boolean>()
    for (const [name, source] of Object.entries(entries)) {
      const usesNode = await copy(source.replace(/\.ts$/, ""), { made, dist, written })
      const reference = usesNode ? '/// <reference types="node" />\n' : ""
      const from = source.replace(/\.ts$/, ".js")
      await writeFile(join(dist, `${name}.d.ts`), `${reference}export * from "./types/${from}"\n`)
    }
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** Only reads the sources, which are type-checked separately. */
const settings = (made: string, entries: Package["entries"]) => ({
  extends: join(root, "tsconfig.json"),
  compilerOptions: {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: made,
  },
  include: [],
  files: Object.values(entries).map((source) => join(root, source)),
})

interface Copying {
  readonly made: string
  readonly dist: string
  /** The copied files, and whether each needs the types of Node. */
  readonly written: Map<string, boolean>
}

/** Copies a declaration and all files that it imports. */
async function copy(source: string, copying: Copying): Promise<boolean> {
  const { made, dist, written } = copying
  const before = written.get(source)
  if (before !== undefined) return before
  written.set(source, false)
  const text = withPaths(await readFile(join(made, `${source}.d.ts`), "utf8"), dirname(source)).replaceAll(
    BUNDLED,
    (_, names: string) =>
      names.replaceAll(/\s*(?:type )?(\w+),?/g, "type $1<_A = any, _B = any, _C = any> = any;\n").trim(),
  )
  const target = join(dist, "types", `${source}.d.ts`)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, withUndefined(text.replaceAll(FOR_EFFECT, "").replaceAll(NAMED, '$1"$2.js"')))
  let usesNode = OF_NODE.test(text)
  for (const [, , path] of text.matchAll(NAMED)) if (await copy(join(dirname(source), path!), copying)) usesNode = true
  written.set(source, usesNode)
  return usesNode
}

/** Lets optional properties be `undefined`, as they can be here, also for a program with `exactOptionalPropertyTypes`. */
function withUndefined(text: string): string {
  const types: { readonly start: number; readonly end: number }[] = []
  JSON.stringify(parseAst(text, { lang: "dts" }), (_, node) => {
    const isProperty = node?.type === "TSPropertySignature" || node?.type === "PropertyDefinition"
    if (isProperty && node.optional && node.typeAnnotation) types.push(node.typeAnnotation.typeAnnotation)
    return node as unknown
  })
  const marks = types.flatMap(({ start, end }) => [[start, "("] as const, [end, ") | undefined"] as const])
  return marks
    .toSorted(([one], [other]) => other - one)
    .reduce((marked, [at, mark]) => marked.slice(0, at) + mark + marked.slice(at), text)
}

/** Replaces the names of our own packages in imports by paths. */
const withPaths = (text: string, folder: string): string =>
  text.replaceAll(OURS, (_, start: string, specifier: string) => {
    const source = sourceOfSpecifier.get(specifier)
    if (source === undefined) throw new Error(`A declaration names ${specifier}, which is no entry.`)
    const path = relative(folder, source)
    return `${start}"${path.startsWith(".") ? path : `./${path}`}"`
  })

function tell(error: { readonly stdout?: string; readonly message: string }): never {
  throw new Error(`The declarations could not be made:\n${error.stdout || error.message}`)
}
