import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from "node:fs"
import { cp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import { buildDeclarations } from "../../../scripts/build-declarations.ts"
import { buildDocs } from "../../../scripts/build-docs.ts"
import { entries, libraries } from "../../../scripts/entries.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const { PATH = "" } = process.env
/** Without the Node that npm installs for this checkout: only the machine's own. */
export const ownPath = PATH.split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter)

/** The version of the machine's own Node. */
export const ownNode = execFileSync("node", ["-p", "process.versions.node"], {
  env: { PATH: ownPath },
  encoding: "utf8",
}).trim()

/** With the tools of this checkout, and its Node. */
export const withTools = [join(root, "node_modules", ".bin"), PATH].join(delimiter)

export interface Installed {
  /** An empty folder in which the package was installed. */
  readonly folder: string
  readonly tarball: string
  /** npm's cache, which has all that the package needs. */
  readonly cache: string
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
 * Packs this checkout and installs the package in an empty folder. With `anew`, builds first, as `npm publish` does.
 * Otherwise packs what the tests have built already, from a folder with everything that a checkout publishes. `typed`
 * adds the types, which take longer to build than the rest.
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
  // Without the prefix npm installs into a folder above this one, if there is a package.json.
  await run("npm", ["install", "--prefix", folder, "--omit=dev", "--prefer-offline", ...quiet, tarball])
  return {
    folder,
    tarball,
    cache: await npmCache(),
    run,
    command: join(folder, "node_modules", "pawl", "bin", "pawl.js"),
  }
}

/** Copies what a checkout has after `npm run build`, including sources, which must not be packed. */
async function layOut(folder: string, typed: boolean): Promise<string> {
  const copy = (from: string, name: string) => cp(from, join(folder, name), { recursive: true })
  await copy(join(inject("package"), "programs"), "dist")
  for (const name of [
    "package.json",
    "README.md",
    "LICENSE",
    "bin",
    "core",
    "client",
    "packs",
    "adapters",
    "apps",
    "labs",
    "scripts",
    "runtime",
  ])
    await copy(join(root, name), name)
  if (typed) await buildDeclarations(join(folder, "dist"), entries)
  await promisify(execFile)(process.execPath, [join(root, "scripts", "build-page.ts"), "--if-stale"])
  await copy(join(root, "dist", "web"), "dist/web")
  await buildDocs({ folder: join(folder, "dist", "docs") })
  return folder
}

/** Packs a library of this checkout, and installs it in an empty folder, as a program does that uses nothing else. */
export async function installLibrary(name: keyof typeof libraries): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), inject("testRun"), `${name}-`))
  const [app, library] = [join(place, "app"), join(place, name)]
  for (const folder of [app, library]) mkdirSync(folder)
  for (const file of ["package.json", "README.md", "LICENSE"]) await cp(join(root, name, file), join(library, file))
  // In a separate process: the build asks Node where packages are, which the tests' loader cannot answer.
  const build = [join(root, "scripts", "build-library.ts"), name, join(library, "dist")]
  await promisify(execFile)(process.execPath, build)
  await buildDeclarations(join(library, "dist"), libraries[name].entries)
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", place, ...quiet]
  const { stdout } = await promisify(execFile)("npm", pack, { cwd: library })
  const tarball = join(place, /"filename": "([^"]+)"/.exec(stdout)![1]!)
  await promisify(execFile)("npm", ["install", "--prefix", app, "--prefer-offline", ...quiet, tarball], { cwd: app })
  return app
}

/** Installs a package that an example needs in addition to ours. */
export function bring(name: string, { folder }: Installed): void {
  const place = join(folder, "node_modules", name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(root, "node_modules", name), place)
}

/** Returns the size of a folder's files in bytes. */
export function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** npm's cache with all fetched packages, with the folder for npx in this test's folder. */
export async function ownCache(folder: string): Promise<Record<string, string>> {
  const [shared, own] = [join(await npmCache(), "_cacache"), join(folder, ".cache")]
  mkdirSync(own, { recursive: true })
  if (existsSync(shared)) symlinkSync(shared, join(own, "_cacache"))
  return { npm_config_cache: own }
}

async function npmCache(): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "cache", "--loglevel=error"])
  return stdout.trim()
}
