/**
 * Builds the programs of this checkout into `dist` if they are missing or old, so that `npm start` and `npx pawl` start
 * the same files as a package: `npm ci` and `npm start` call it. Files of an older build stay for a day, because a
 * server may use them.
 */
import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { builtProgram, markOf, writeMark } from "./built.js"

const root = join(import.meta.dirname, "..")
const KEPT_MS = 24 * 60 * 60 * 1000

export async function buildCheckout(): Promise<void> {
  if (builtProgram(root) !== undefined) return
  const mark = markOf(root)
  const dist = join(root, "dist")
  // Without development dependencies, programs start from source.
  const building = await import("./build-programs.ts").catch(() => undefined)
  if (!building) return
  process.stderr.write("building…\n")
  const begun = Date.now()
  await building.buildPrograms(dist)
  for (const name of readdirSync(dist)) {
    const path = join(dist, name)
    if (/\.js(\.map)?$/.test(name) && begun - statSync(path).mtimeMs > KEPT_MS) rmSync(path)
  }
  writeMark(root, mark)
}
