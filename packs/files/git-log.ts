import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import { type GitPorts, withGit } from "./git.ts"
import { displayName, withoutControls } from "./folder/display-name.ts"

const MAX = 100

export function gitLog(ports: GitPorts): Tool {
  return readTool(ports.folder, {
    name: "git_log",
    description: "The commits of the work folder's repository, newest first, of all files or of one path.",
    input: z.strictObject({
      path: z.string().min(1).max(4096).optional(),
      count: z.int().min(1).max(MAX).optional().describe("20 by default"),
      skip: z.int().min(0).max(1_000_000).optional().describe("How many of the newest to pass over"),
    }),
    examples: ["show the git log", "what changed README.md"],
    read({ path, count = 20, skip = 0 }, { signal }) {
      return withGit(ports, signal, async ({ run }) => {
        const format = "--format=%h %ad %an: %s"
        const which = path === undefined ? [] : [ports.folder.realPath(path, "keep")]
        const words = [
          "log",
          "-n",
          String(count + 1),
          `--skip=${skip}`,
          "--date=iso-strict",
          "--no-show-signature",
          "--no-mailmap",
          format,
        ]
        const lines = withoutControls(await run([...words, "--", ...which]))
          .split("\n")
          .filter((line) => line !== "")
        if (lines.length === 0)
          return path === undefined ? "There is no commit yet." : `No commit has changed ${displayName(path)}.`
        if (lines.length <= count) return lines.join("\n")
        const next = JSON.stringify({ ...(path === undefined ? {} : { path }), count, skip: skip + count })
        return [...lines.slice(0, count), `[There are older ones: git_log ${next}.]`].join("\n")
      })
    },
  })
}
