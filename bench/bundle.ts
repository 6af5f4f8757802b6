import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { buildTogether } from "../scripts/build-programs.ts"
import { chunkGroups } from "../scripts/chunks.ts"
import { command, entries, programs } from "../scripts/entries.ts"

const root = join(import.meta.dirname, "..")

/**
 * Bundles the child of the benchmark as one more published program, so that it runs as users run Pawl. From source,
 * both sides would pay for stripping types and for finding many files.
 */
export async function bundleChild(folder: string): Promise<string> {
  const thread = programs["checkpoint-thread"]
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "package.json"), '{ "type": "module" }')
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  if (thread) await buildTogether(folder, { "checkpoint-thread": thread })
  await buildTogether(folder, { ...entries, ...command, child: "bench/child.ts" }, { groups: chunkGroups() })
  return join(folder, "child.js")
}
