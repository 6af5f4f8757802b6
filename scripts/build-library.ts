/**
 * Builds a library into its `dist`: bundle, documentation and declarations: `node scripts/build-library.ts core|client
 * [FOLDER]`. `npm pack` calls it in the library's folder. With FOLDER, only the bundle and the documentation are
 * written, into it.
 */
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { buildDeclarations } from "./build-declarations.ts"
import { writeDocsAsText } from "./build-docs.ts"
import { buildLibrary } from "./build-programs.ts"
import { libraries } from "./entries.ts"

const [name = "", folder] = process.argv.slice(2)
const library = Object.entries(libraries).find(([each]) => each === name)?.[1]
if (!library) throw new Error(`There is no library "${name}", only ${Object.keys(libraries).join(" and ")}.`)
const dist = folder === undefined ? join(import.meta.dirname, "..", name, "dist") : resolve(folder)
await rm(dist, { recursive: true, force: true })
await buildLibrary(library, dist)
await writeDocsAsText(join(dist, "docs"))
if (folder === undefined) await buildDeclarations(dist, library.entries)
