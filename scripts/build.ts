/**
 * Builds the published package into `dist`: `npm pack` calls it. JavaScript, because Node strips types only outside
 * node_modules; in few files, because finding and reading files takes most of a start; with declarations, the page and
 * the documentation. With the name of a folder, only the JavaScript is written, into it.
 */
import { readdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { buildDeclarations } from "./build-declarations.ts"
import { buildDocs } from "./build-docs.ts"
import { buildPage } from "./build-page.ts"
import { buildPrograms } from "./build-programs.ts"
import { entries } from "./entries.ts"
import { markOf, writeMark } from "./built.js"

const root = join(import.meta.dirname, "..")
const [elsewhere] = process.argv.slice(2)
const dist = resolve(root, elsewhere ?? "dist")

const mark = markOf(root)
// The page is rebuilt only if its sources changed, and a server of this checkout may have it open.
const old = await readdir(dist).catch(() => [])
await Promise.all(
  old.filter((name) => name !== "web" && name !== "docs").map((name) => rm(join(dist, name), { recursive: true })),
)
await Promise.all([
  buildPrograms(dist),
  ...(elsewhere === undefined
    ? [buildDeclarations(dist, entries), buildPage({ ifStale: true }), buildDocs({ isCompressed: true })]
    : []),
])
if (elsewhere === undefined) writeMark(root, mark)
