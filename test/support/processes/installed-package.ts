import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from "node:fs"
import { cp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import { buildDeclarations } from "../../../scripts/build-declarations.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const { PATH = "" } = process.env
/** Without the Node that npm brings for this checkout: what a machine has of its own. */
export const ownPath = PATH.split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter)

const withTools = [join(root, "node_modules", ".bin"), PATH].join(delimiter)

export interface Installed {
  /** An empty folder in which the package was installed. */
  readonly folder: string
  readonly tarball: string
  /** Its command, as a file. */
  readonly command: string
  /** Runs a program of this checkout's tools there. */
  run(
    program: string,
    words: readonly string[],
    env?: Record<string, string>,
  ): Promise<{ stdout: string; stderr: string }>
}

/**
 * Packs this checkout, and installs it as somebody does who has nothing else. `anew`: as `npm publish` would, which builds
 * first. Else what the tests have built already is packed, in a folder that has all that a checkout has to publish; with
 * its types where it is `typed`, which take longer than all else that is built.
 */
export async function installPackage({ anew, typed }: { anew: boolean; typed: boolean }): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), inject("testRun"), "package-"))
  const folder = join(place, "app")
  mkdirSync(folder)
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
  const cwd = anew ? root : await layOut(join(place, "checkout"), typed)
  const pack = ["pack", "--json", "--pack-destination", place, ...quiet, ...(anew ? [] : ["--ignore-scripts"])]
  const { stdout } = await promisify(execFile)("npm", pack, { cwd })
  const tarball = join(place, /"filename": "([^"]+)"/.exec(stdout)![1]!)
  const run: Installed["run"] = (program, words, env = {}) =>
    promisify(execFile)(program, [...words], {
      cwd: folder,
      env: { ...process.env, PATH: withTools, ...env },
      maxBuffer: 2 ** 26,
    })
  await run("npm", ["install", "--omit=dev", "--prefer-offline", ...quiet, tarball])
  return { folder, tarball, run, command: join(folder, "node_modules", "pawl", "bin", "pawl.js") }
}

/** A checkout after `npm run build`, of what is built already; with sources, which are not to be packed. */
async function layOut(folder: string, typed: boolean): Promise<string> {
  const copy = (from: string, name: string) => cp(from, join(folder, name), { recursive: true })
  await copy(join(inject("package"), "programs"), "dist")
  for (const name of ["package.json", "README.md", "LICENSE", "bin", "src", "scripts", "runtime"])
    await copy(join(root, name), name)
  if (typed) await buildDeclarations(join(folder, "dist"))
  await promisify(execFile)(process.execPath, [join(root, "scripts", "build-page.ts"), "--if-stale"])
  await copy(join(root, "dist", "web"), "dist/web")
  return folder
}

/** What a reader of an example installs for it, besides ours. */
export function bring(name: string, { folder }: Installed): void {
  const place = join(folder, "node_modules", name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(root, "node_modules", name), place)
}

/** Bytes of a folder's files. */
export function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** npm's cache with all that was ever fetched, where what npx installs lies in a folder of this test. */
export async function ownCache(folder: string): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "cache", "--loglevel=error"])
  const [shared, own] = [join(stdout.trim(), "_cacache"), join(folder, ".cache")]
  mkdirSync(own, { recursive: true })
  if (existsSync(shared)) symlinkSync(shared, join(own, "_cacache"))
  return { npm_config_cache: own }
}
