/**
 * Builds the page into dist/web: `node scripts/build-page.ts [--if-stale]`. With `--if-stale` it first checks whether
 * the sources have changed since the last build, which takes a few milliseconds.
 */
import { createHash } from "node:crypto"
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { buildChartFrame } from "./build-chart-frame.ts"
import { compress } from "./compress.ts"

const root = join(import.meta.dirname, "..")
const folder = join(root, "dist", "web")
const SOURCES = ["apps/web", "packs/analyst/chart-spec", "client", "core/protocol", "core/shared"]
/** A file with a hash of the sources that a page was built from. */
const MARK = ".sources"

if (import.meta.main) await buildPage({ ifStale: process.argv.includes("--if-stale") })

export async function buildPage({ ifStale = false } = {}): Promise<void> {
  const mark = await markOf()
  if (ifStale && (await readFile(join(folder, MARK), "utf8").catch(() => "")) === mark) return
  // An installation without development dependencies has the page it was published with, or reports that it has none.
  const vite = await import("vite").catch(() => undefined)
  if (!vite) return
  process.stderr.write("building the page…\n")
  // Built in a temporary folder and then moved, so that a concurrent build or server never sees a partial page.
  const making = `${folder}-${process.pid}`
  const configFile = join(root, "apps", "web", "vite.config.ts")
  // In a test run it is `test`, which would build the page for development.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = "production"
  await vite.build({ configFile, logLevel: "warn", build: { outDir: making, emptyOutDir: true } })
  if (NODE_ENV !== undefined) process.env.NODE_ENV = NODE_ENV
  await writeFile(join(making, "chart-frame.html"), await buildChartFrame())
  await compress(making)
  await writeFile(join(making, MARK), mark)
  await rm(folder, { recursive: true, force: true })
  await rename(making, folder)
}

async function markOf(): Promise<string> {
  const hash = createHash("sha256")
  const add = async (path: string) => hash.update(`${path}\n`).update(await readFile(join(root, path)))
  for (const source of SOURCES) for (const path of await filesIn(source)) await add(path)
  await add("package.json")
  await add("scripts/build-page.ts")
  await add("scripts/build-chart-frame.ts")
  return hash.digest("hex")
}

async function filesIn(source: string): Promise<string[]> {
  const entries = await readdir(join(root, source), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !/\.(test|fixture)\.ts$/.test(entry.name))
  return files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).sort()
}
