import { join } from "node:path"
import { build } from "rolldown"
import { bundledFiles } from "./bundled-files.ts"
import { command, entries, manifest, programs } from "./entries.ts"
import { licences } from "./licences.ts"

const root = join(import.meta.dirname, "..")

/** The packages that are installed beside ours; every other one becomes part of our files. */
const installed = Object.keys(manifest.dependencies)
export const isInstalled = (id: string): boolean => installed.some((name) => id === name || id.startsWith(`${name}/`))

/** The command, the entries that other programs import, and each process and thread, all of them in one folder; and more by name. */
export async function buildPrograms(dist: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input: { ...entries, ...programs, ...command, ...more },
    // The last is what Ink looks for where somebody has set DEV=true, and does without.
    external: (id) => id.startsWith("node:") || isInstalled(id) || id === "react-devtools-core",
    // React has two versions of itself, and one of them is for finding faults in programs.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [bundledFiles(isInstalled), licences(root)],
    output: { dir: dist, format: "esm", chunkFileNames: "[name]-[hash].js", sourcemap: true, comments: false },
  })
}
