// Whether what was built of a checkout's sources is of these sources. In plain JavaScript: the launcher asks it before
// anything else is loaded, and a start from source would be six times as long as one of what was built.
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Names the sources that the programs in `dist` were built of. */
const MARK = ".sources"

/** The program that was built of the sources as they are now; undefined where there is none, or where they have changed since. */
export function builtProgram(root) {
  try {
    const isFresh = readFileSync(join(root, "dist", MARK), "utf8") === markOf(root)
    return isFresh ? join(root, "dist", "pawl.js") : undefined
  } catch {
    return undefined
  }
}

/** Changes whenever a file that is built does. By sizes and times: to read a thousand files would take longer than a start. */
export function markOf(root) {
  const marks = []
  const look = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (path === "apps/web" || entry.name === "dist") continue
      if (entry.isDirectory()) look(path)
      else if (!/\.(test|fixture)\.ts$/.test(entry.name)) add(path)
    }
  }
  const add = (path) => {
    const { size, mtimeMs } = lstatSync(join(root, path))
    marks.push(`${path} ${size} ${mtimeMs}`)
  }
  for (const folder of ["core", "client", "packs", "adapters", "apps", "labs"]) look(folder)
  for (const path of ["package.json", "package-lock.json"]) add(path)
  return `${marks.join("\n")}\n`
}

/** To be written when everything is in its place, with the mark from before it was built: a file may change meanwhile. */
export function writeMark(root, mark) {
  writeFileSync(join(root, "dist", MARK), mark)
}
