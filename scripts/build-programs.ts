import { join } from "node:path"
import { build, type CodeSplittingGroup, type OutputChunk, type Plugin } from "rolldown"
import { bundledFiles } from "./bundled-files.ts"
import { chunkGroups } from "./chunks.ts"
import { command, entries, manifest, type Package, programs, sourceOfSpecifier } from "./entries.ts"
import { lazySchemas } from "./lazy-schemas.ts"
import { Licences } from "./licences.ts"
import { isNewer, newerBuiltins } from "./newer-builtins.ts"
import { plainLetters } from "./plain-letters.ts"

const root = join(import.meta.dirname, "..")

/**
 * Packages that are installed only for our declarations. Their code is bundled: finding it would take a third of a
 * start.
 */
const onlyTypes = ["zod"]

/** True for a package that is installed next to this one, so that it is not bundled. */
function installedWith({ dependencies, peerDependencies }: Package["manifest"]): (id: string) => boolean {
  const names = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !onlyTypes.includes(name))
  return (id) => names.some((name) => id === name || id.startsWith(`${name}/`))
}

/**
 * Bundles the sources into one folder: the command and the entries that other programs import share chunks, because one
 * process may load them; each process and thread is a separate file. Packages that are not installed with ours are
 * bundled.
 */
export async function buildPrograms(dist: string): Promise<void> {
  const licences = new Licences(root)
  const apart = Object.entries(programs).map(([name, source]) => ({ [name]: source }))
  await Promise.all(apart.map((program) => buildTogether(dist, program, { plugins: [licences.plugin()] })))
  await buildTogether(dist, { ...entries, ...command }, { groups: chunkGroups(), plugins: [licences.plugin()] })
  await licences.write(dist)
}

/** Builds a library into its `dist`: its entries, and the processes and threads that its own folder contains. */
export async function buildLibrary({ folder, manifest, entries }: Package, dist: string): Promise<void> {
  const licences = new Licences(root)
  const options = { plugins: [licences.plugin()], isInstalled: installedWith(manifest) }
  const apart = Object.entries(programs).filter(([, source]) => source.startsWith(`${folder}/`))
  await Promise.all(apart.map(([name, source]) => buildTogether(dist, { [name]: source }, options)))
  // In a separate file, which every entry that needs Node imports first.
  const groups = [{ name: "require-node", test: /[\\/]core[\\/]require-node\.ts$/ }]
  await buildTogether(dist, entries, { ...options, groups })
  await licences.write(dist)
}

/** Maps our own packages to their sources. A condition would replace those of `import` and `require`. */
const sourcesByName = Object.fromEntries(
  [...sourceOfSpecifier].map(([specifier, source]) => [`${specifier}$`, join(root, source)]),
)

interface More {
  readonly plugins?: readonly Plugin[]
  /** The modules to combine in one file, if the bundler must not choose. */
  readonly groups?: CodeSplittingGroup[]
  /** True for packages that are installed next to the bundle. Default: the dependencies of `pawl`. */
  readonly isInstalled?: (id: string) => boolean
}

/** Bundles entries that share common chunks. */
export async function buildTogether(
  dist: string,
  input: Readonly<Record<string, string>>,
  more: More = {},
): Promise<OutputChunk[]> {
  const { plugins = [], groups = [], isInstalled = installedWith(manifest) } = more
  const { output } = await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input,
    resolve: { alias: sourcesByName },
    // Ink imports react-devtools-core only with DEV=true.
    external: (id, importer) =>
      (id.startsWith("node:") && !isNewer(id, importer)) || isInstalled(id) || id === "react-devtools-core",
    // A module that is only re-exported, as by `core/pack.ts`, is left out. Only the check of Node's version acts when it is loaded.
    treeshake: {
      moduleSideEffects: [{ test: /[\\/]core[\\/](?:protocol|shared|pack\.ts|program\.ts)/, sideEffects: false }],
    },
    // Dynamic imports of modules that are part of a shared chunk are intended.
    checks: { ineffectiveDynamicImport: false },
    // React has a development and a production version. The code that refuses an older Node must run on it
    // (`core/require-node.ts`).
    transform: { target: "node20", define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [lazySchemas(), newerBuiltins(), bundledFiles(isInstalled), plainLetters(), ...plugins],
    output: {
      dir: dist,
      format: "esm",
      chunkFileNames: "[name]-[hash].js",
      // Maps would be a fifth of the installed size. Names and lines of the bundle are readable without them.
      sourcemap: false,
      comments: false,
      codeSplitting: { groups },
    },
  })
  return output.filter((file) => file.type === "chunk")
}
