import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import { type Folder } from "./folder/folder.ts"
import { loadEngine, toFileGlob } from "./folder/glob.ts"
import { displayName } from "./folder/display-name.ts"
import { forEachFile, walkFiles } from "./folder/walk-files.ts"

const MAX = 200
const WITHIN_MS = 8000

export function findFiles(folder: Folder): Tool {
  return readTool(folder, {
    name: "find_files",
    description:
      "Find files of the work folder by a pattern such as `*.ts`, `src/**/*.test.ts` or `{README,LICENSE}*`. Without a slash it is matched against names at any depth. What .gitignore leaves out is left out.",
    input: z.strictObject({
      pattern: z.string().min(1).max(500),
      path: z.string().max(4096).optional().describe("Only below this directory"),
      ignored: z.boolean().optional().describe("Also what .gitignore leaves out"),
    }),
    examples: ["find *.ts in src", "where is tsconfig.json"],
    async read({ pattern, path = ".", ignored = false }, { signal }) {
      const glob = toFileGlob(await loadEngine(), pattern)
      const found: string[] = []
      const walk = walkFiles(folder, path, { signal, withinMs: WITHIN_MS, ignored })
      const ended = await forEachFile(walk, (file) => {
        if (!glob.matches(file.path)) return
        if (found.length === MAX) return "enough"
        found.push(displayName(file.path))
      })
      if (ended === "timed_out")
        found.push(
          `[Stopped after ${WITHIN_MS / 1000} s; find_files ${JSON.stringify({ pattern, path: "…" })} looks in one directory.]`,
        )
      if (found.length === 0)
        found.push(
          `No file matches ${displayName(pattern)}${ignored ? "" : `. find_files ${JSON.stringify({ pattern, ignored: true })} also looks at what .gitignore leaves out`}.`,
        )
      if (ended === "enough")
        found.push(
          `[The first ${MAX}. find_files ${JSON.stringify({ pattern, path: "…" })} with a directory finds the rest.]`,
        )
      return [...found, ...walk.left].join("\n")
    },
  })
}
