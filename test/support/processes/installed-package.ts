import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"

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

/** Packs this checkout as `npm publish` would, and installs it as somebody does who has nothing else. */
export async function installPackage(): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), inject("testRun"), "package-"))
  const folder = join(place, "app")
  mkdirSync(folder)
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--pack-destination", place, ...quiet], {
    cwd: root,
  })
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
