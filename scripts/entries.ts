import { globSync, readFileSync } from "node:fs"
import { basename, join, sep } from "node:path"

const root = join(import.meta.dirname, "..")

/** The folders whose code becomes part of `dist`. The page, `apps/web`, is built separately. */
export const SOURCE_FOLDERS = ["core", "client", "packs", "adapters", "apps", "labs"]

/** True for one of our sources, false for a bundled package. */
export const isOwnSource = (path: string): boolean =>
  SOURCE_FOLDERS.some((folder) => path.startsWith(join(root, folder) + sep))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, { readonly "pawl-source": string } | string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** A package of this repository. `entries` maps the files of `dist` to their sources. */
export interface Package {
  readonly folder: string
  readonly manifest: Manifest
  readonly entries: Readonly<Record<string, string>>
}

function readPackage(folder: string): Package {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest
  const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === "string"
      ? []
      : [[path === "." ? "index" : path.slice(2), join(folder, target["pawl-source"]).replaceAll("\\", "/")]],
  )
  return { folder, manifest, entries: Object.fromEntries(entries) as Package["entries"] }
}

/** `pawl`: the command, the page and the packs. It re-exports the libraries. */
export const pawl = readPackage("")
export const { manifest, entries } = pawl

/** The libraries, by folder. */
export const libraries = { core: readPackage("core"), client: readPackage("client") }

/** The specifier of an entry, as other programs import it. */
export const specifierOf = (name: string, entry: string): string => (entry === "index" ? name : `${name}/${entry}`)

/** The source of each entry of the libraries. */
export const sourceOfSpecifier: ReadonlyMap<string, string> = new Map(
  Object.values(libraries).flatMap(({ manifest: { name }, entries: all }) =>
    Object.entries(all).map(([entry, source]) => [specifierOf(name, entry), source] as const),
  ),
)

/** The programs that run in their own process or thread, by file name. In adapters, "thread" means a conversation. */
export const programs: Readonly<Record<string, string>> = Object.fromEntries(
  globSync("{core,packs,labs}/**/*-{child,thread}.ts", { cwd: root })
    .filter((path) => !path.startsWith("core/shared/processes/")) // the code that starts them
    .map((path) => [basename(path, ".ts"), path]),
)

/** The program that `bin/pawl.js` starts. */
export const command = { pawl: "apps/cli/pawl.ts" }
