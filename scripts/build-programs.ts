import { join } from "node:path"
import { build } from "rolldown"
import { bundledFiles } from "./bundled-files.ts"
import { command, entries, manifest, programs } from "./entries.ts"
import { licences } from "./licences.ts"

const root = join(import.meta.dirname, "..")

/** What is published: the command, the entries that other programs import, and each process and thread. */
const published = { ...entries, ...programs, ...command }

/**
 * Makes programs of our sources, all of them in one folder. `installed` are the packages that are installed beside ours;
 * every other one becomes part of our files.
 */
export async function buildPrograms(
  dist: string,
  input: Readonly<Record<string, string>> = published,
  installed: readonly string[] = Object.keys(manifest.dependencies),
): Promise<void> {
  const isInstalled = (id: string): boolean => installed.some((name) => id === name || id.startsWith(`${name}/`))
  await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input,
    // The last is what Ink looks for where somebody has set DEV=true, and does without.
    external: (id) => id.startsWith("node:") || isInstalled(id) || id === "react-devtools-core",
    // React has two versions of itself, and one of them is for finding faults in programs.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [bundledFiles(isInstalled), licences(root)],
    output: { dir: dist, format: "esm", chunkFileNames: "[name]-[hash].js", sourcemap: true, comments: false },
  })
}
