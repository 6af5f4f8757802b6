import { rm } from "node:fs/promises"
import { join } from "node:path"
import { build, type CodeSplittingGroup, type OutputChunk, type Plugin } from "rolldown"
import { bundledFiles } from "./bundled-files.ts"
import { chunkGroups } from "./chunks.ts"
import { EarlyFunctions } from "./early-functions.ts"
import { command, entries, manifest, programs } from "./entries.ts"
import { Licences } from "./licences.ts"
import { isPlain, plainBuiltins } from "./plain-builtins.ts"
import { plainLetters } from "./plain-letters.ts"
import { rehearse } from "./rehearse.ts"

const root = join(import.meta.dirname, "..")

/** Installed for our declarations, which name their types. What runs is part of our files: finding it would be a third of a start. */
const onlyTypes = ["zod", "@ai-sdk/provider"]
const installed = Object.keys(manifest.dependencies).filter((name) => !onlyTypes.includes(name))
const isInstalled = (id: string): boolean => installed.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * Makes programs of our sources, all of them in one folder: the command and the entries that other programs import, which
 * may be loaded into one process and share what they have in common; and each process and thread, which shares nothing.
 * What is not installed beside ours becomes part of our files.
 */
export async function buildPrograms(dist: string): Promise<void> {
  const licences = new Licences(root)
  const apart = Object.entries(programs).map(([name, source]) => ({ [name]: source }))
  await Promise.all(apart.map((program) => buildTogether(dist, program, { plugins: [licences.plugin()] })))
  await buildRehearsed(dist, { ...entries, ...command }, [licences.plugin()])
  await licences.write(dist)
}

/**
 * Twice, among the processes and threads that are there already: what the first calls early in a rehearsal is compiled with
 * its file in the second.
 */
export async function buildRehearsed(
  dist: string,
  input: Readonly<Record<string, string>>,
  plugins: readonly Plugin[] = [],
): Promise<void> {
  const first = await buildTogether(dist, input, { groups: chunkGroups(), plugins })
  const early = new EarlyFunctions()
  const called = await rehearse(dist).catch((error: unknown) => {
    console.error("Nothing is compiled ahead, so that a start takes longer:", error)
    return undefined
  })
  if (!called) return
  for (const { name, fileName, code } of first) {
    const starts = called.get(fileName)
    if (starts) early.add(name, code, starts)
  }
  const second = await buildTogether(dist, input, { groups: chunkGroups(), plugins: [...plugins, early.plugin()] })
  const stays = new Set(second.map(({ fileName }) => fileName))
  const gone = first.map(({ fileName }) => fileName).filter((name) => !stays.has(name))
  await Promise.all(gone.flatMap((name) => [name, `${name}.map`]).map((name) => rm(join(dist, name), { force: true })))
}

interface More {
  readonly plugins?: readonly Plugin[]
  /** Which of their modules lie together, where the bundler is not to choose by itself. */
  readonly groups?: CodeSplittingGroup[]
}

/** These share what they have in common. */
export async function buildTogether(
  dist: string,
  input: Readonly<Record<string, string>>,
  more: More = {},
): Promise<OutputChunk[]> {
  const { plugins = [], groups = [] } = more
  const { output } = await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input,
    // The last is what Ink looks for where somebody has set DEV=true, and does without.
    external: (id, importer) =>
      (id.startsWith("node:") && !isPlain(id, importer)) || isInstalled(id) || id === "react-devtools-core",
    // What is one file for every server is no longer loaded apart by those few that would have it later.
    checks: { ineffectiveDynamicImport: false },
    // React has two versions of itself, and one of them is for finding faults in programs.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [plainBuiltins(), bundledFiles(isInstalled), plainLetters(), ...plugins],
    output: {
      dir: dist,
      format: "esm",
      chunkFileNames: "[name]-[hash].js",
      sourcemap: true,
      comments: false,
      codeSplitting: { groups },
    },
  })
  return output.filter((file) => file.type === "chunk")
}
