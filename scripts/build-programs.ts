import { join } from "node:path"
import { build } from "rolldown"
import { bundledFiles } from "./bundled-files.ts"
import { command, entries, manifest, programs } from "./entries.ts"
import { licences } from "./licences.ts"
import { plainBuiltins } from "./plain-builtins.ts"

const root = join(import.meta.dirname, "..")

/** What is published: the command, the entries that other programs import, and each process and thread. */
const published = { ...entries, ...programs, ...command }

/** Installed for our declarations, which name their types. What runs is part of our files: finding it would be a third of a start. */
const onlyTypes = ["zod", "@ai-sdk/provider"]
const installed = Object.keys(manifest.dependencies).filter((name) => !onlyTypes.includes(name))

/** Makes programs of our sources, all of them in one folder. What is not installed beside ours becomes part of our files. */
export async function buildPrograms(dist: string, input: Readonly<Record<string, string>> = published): Promise<void> {
  const isInstalled = (id: string): boolean => installed.some((name) => id === name || id.startsWith(`${name}/`))
  await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input,
    // The last is what Ink looks for where somebody has set DEV=true, and does without.
    external: (id) =>
      (id.startsWith("node:") && !/^node:https?$/.test(id)) || isInstalled(id) || id === "react-devtools-core",
    // React has two versions of itself, and one of them is for finding faults in programs.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [plainBuiltins(), bundledFiles(isInstalled), licences(root)],
    output: { dir: dist, format: "esm", chunkFileNames: "[name]-[hash].js", sourcemap: true, comments: false },
  })
}
