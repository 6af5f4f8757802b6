/**
 * Lays out in a folder what would be published of these sources, once for all tests: `bin/pawl.js` and `dist`. What the
 * tests start as a process of its own is started from there. It is what people run, and from source each start would
 * find, read and strip hundreds of files: a server took three times as much, a child that reads a document five times.
 *
 *   node test/support/processes/build-package.ts FOLDER
 */
import { globSync } from "node:fs"
import { copyFile, cp, mkdir, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { buildPrograms, buildTogether } from "../../../scripts/build-programs.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const folder = process.argv[2]
if (!folder) throw new Error("Which folder?")

/** Servers of tests that are killed, or kill themselves: `dist/bank-life.js` and so on. */
const lives = Object.fromEntries(
  globSync("test/support/lives/*-life.ts", { cwd: root }).map((path) => [basename(path, ".ts"), path]),
)

await mkdir(join(folder, "bin"), { recursive: true })
await Promise.all([
  build(),
  copyFile(join(root, "package.json"), join(folder, "package.json")),
  copyFile(join(root, "bin", "pawl.js"), join(folder, "bin", "pawl.js")),
  symlink(join(root, "node_modules"), join(folder, "node_modules")),
])
// The page is built by those who look at it.
await symlink(join(root, "dist", "web"), join(folder, "dist", "web"))

async function build(): Promise<void> {
  const dist = join(folder!, "dist")
  await buildPrograms(dist)
  // What nobody but these tests has stands beside it: `installed-package.ts` packs the programs without.
  await cp(dist, join(folder!, "programs"), { recursive: true })
  await buildTogether(dist, lives)
}
