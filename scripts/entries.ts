import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"

const root = join(import.meta.dirname, "..")

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly "pawl-source": string } | string>>
  readonly dependencies: Readonly<Record<string, string>>
}

export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest

/** What other programs import: the name of each file of `dist`, and the source it is made of. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[path === "." ? "index" : path.slice(2), target["pawl-source"].slice(2)]],
  ),
)

/** What runs in a process or a thread of its own, by how its file is named: it is started as a file beside the others. */
export const programs: Readonly<Record<string, string>> = Object.fromEntries(
  globSync("src/**/*-{child,thread}.ts", { cwd: root }).map((path) => [basename(path, ".ts"), path]),
)

/** What `bin/pawl.js` starts. */
export const command = { pawl: "src/cli/pawl.ts" }
