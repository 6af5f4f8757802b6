import { symlink } from "node:fs/promises"
import { join } from "node:path"
import { build } from "rolldown"

const root = join(import.meta.dirname, "..")

/**
 * The child of the benchmark as plain JavaScript in few files, as a published package is: from source both sides would
 * pay for stripping types, and most of what is measured would be that.
 */
export async function bundleChild(folder: string): Promise<string> {
  await build({
    cwd: root,
    platform: "node",
    logLevel: "silent",
    input: { child: "bench/child.ts", "checkpoint-thread": "src/store/engine/sqlite/checkpoint-thread.ts" },
    external: [/^node:/, "pg"],
    output: { dir: folder, format: "esm", chunkFileNames: "[name].mjs", entryFileNames: "[name].mjs", comments: false },
  })
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  return join(folder, "child.mjs")
}
