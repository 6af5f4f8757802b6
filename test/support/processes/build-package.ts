/**
 * Creates in a folder the files that would be published of these sources, once for all tests: `bin/pawl.js` and
 * `dist`. Tests start their processes from there. It is what users run, and from source each start would find, read
 * and strip hundreds of files: a server took three times as long, a child that reads a document five times.
 *
 * If NODE_COMPILE_CACHE is set, it is also compiled there.
 *
 *   node test/support/processes/build-package.ts FOLDER
 */
import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { copyFile, cp, mkdir, rm, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
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
// The tests of the page build it.
await symlink(join(root, "dist", "web"), join(folder, "dist", "web"))
await compile()

async function build(): Promise<void> {
  const dist = join(folder!, "dist")
  await buildPrograms(dist)
  // Programs for these tests only go next to the package: `installed-package.ts` packs without them.
  await cp(dist, join(folder!, "programs"), { recursive: true })
  await buildTogether(dist, lives)
}

/**
 * A process writes its compile cache when it ends, but the tests kill their servers. The first entry of a file is
 * never replaced, so a command that uses little of a file must not run first.
 */
async function compile(): Promise<void> {
  const { NODE_COMPILE_CACHE, PATH } = process.env
  if (!NODE_COMPILE_CACHE) return
  const data = join(folder!, "compiling")
  const env = { NODE_COMPILE_CACHE, PATH, HOME: folder!, PAWL_DATA: data }
  const words = [join(folder!, "bin", "pawl.js"), "exec", "--agent", "workspace", "list my tasks"]
  const running = promisify(execFile)(process.execPath, words, { env })
  // It would wait for input.
  running.child.stdin?.end()
  await running
  await rm(data, { recursive: true })
}
