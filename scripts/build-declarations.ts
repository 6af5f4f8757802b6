import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { promisify } from "node:util"
import { entries } from "./entries.ts"

const root = join(import.meta.dirname, "..")
const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
/** A file that another one names. The second is what TypeScript writes for a type that nobody named. */
const NAMED = /(\bfrom |\bimport\()"(\.[^"]+)\.ts"/g
const OF_NODE = /"node:|\b(Buffer|NodeJS)\b/

/** The types of what other programs import, and of nothing else: one file for each entry, and beside it what that needs. */
export async function buildDeclarations(dist: string): Promise<void> {
  const made = await mkdtemp(join(root, "node_modules", ".declarations-"))
  try {
    await writeFile(join(made, "tsconfig.json"), JSON.stringify(settings(made)))
    await promisify(execFile)(process.execPath, [compiler, "-p", made]).catch(tell)
    const written = new Map<string, boolean>()
    for (const [name, source] of Object.entries(entries)) {
      const usesNode = await copy(source.replace(/\.ts$/, ""), { made, dist, written })
      const reference = usesNode ? '/// <reference types="node" />\n' : ""
      const from = relative("src", source).replace(/\.ts$/, ".js")
      await writeFile(join(dist, `${name}.d.ts`), `${reference}export * from "./types/${from}"\n`)
    }
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** What the sources are checked with is checked elsewhere: here they are only read. */
const settings = (made: string) => ({
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
  /** What was copied, and whether it needs the types of Node. */
  readonly written: Map<string, boolean>
}

/** Copies a declaration and all that it names. */
async function copy(source: string, copying: Copying): Promise<boolean> {
  const { made, dist, written } = copying
  const before = written.get(source)
  if (before !== undefined) return before
  written.set(source, false)
  const text = await readFile(join(made, `${source}.d.ts`), "utf8")
  const target = join(dist, "types", `${relative("src", source)}.d.ts`)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, text.replaceAll(NAMED, '$1"$2.js"'))
  let usesNode = OF_NODE.test(text)
  for (const [, , path] of text.matchAll(NAMED)) if (await copy(join(dirname(source), path!), copying)) usesNode = true
  written.set(source, usesNode)
  return usesNode
}

function tell(error: { readonly stdout?: string; readonly message: string }): never {
  throw new Error(`The declarations could not be made:\n${error.stdout || error.message}`)
}
