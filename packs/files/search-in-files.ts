import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import type { Folder } from "./folder/folder.ts"
import { loadEngine, toFileGlob } from "./folder/glob.ts"
import { type FoundLine, PatternSearch } from "./folder/pattern-search.ts"
import { isBinary } from "./read-file.ts"
import { QuickReader } from "./folder/quick-reader.ts"
import { displayName } from "./folder/display-name.ts"
import { forEachFile, walkFiles } from "./folder/walk-files.ts"

const MAX = 100
const MAX_SEARCHED = 1024 * 1024
const MAX_IN_LINE = 300
const WITHIN_MS = 10_000

/** Searches for plain text itself. Patterns are searched in a thread with a time limit. */
export function searchInFiles(folder: Folder): Tool {
  return readTool(folder, {
    name: "search_in_files",
    description:
      "Search the text of files in the work folder, line by line. Gives path, line number and line. The pattern is plain text unless `regex` is true (RE2 syntax: no backreferences). What .gitignore leaves out, files over 1 MB and binary files are left out.",
    input: z.strictObject({
      pattern: z.string().min(1).max(1000),
      path: z.string().max(4096).optional().describe("A directory or one file; the whole work folder by default"),
      files: z.string().max(500).optional().describe("Only files like this, such as *.ts"),
      regex: z.boolean().optional(),
      ignore_case: z.boolean().optional(),
    }),
    examples: [
      "search for TODO in src",
      "search for hello world in docs",
      "which files mention TODO",
      "where is openFolder used",
    ],
    timeoutSeconds: 30,
    async read({ pattern, path = ".", files, regex = false, ignore_case = false }, { signal }) {
      const glob = files === undefined ? undefined : toFileGlob(await loadEngine(), files)
      const needle = regex || ignore_case ? undefined : Buffer.from(pattern)
      const asked = { pattern, isRegex: regex, ignoreCase: ignore_case }
      await using search = needle ? undefined : await PatternSearch.open(asked, MAX + 1)
      const lines: string[] = []
      let left = 0
      const target = folder.find(path)
      const walking = { signal, withinMs: WITHIN_MS, sizes: "no-sizes" } as const
      using reader = new QuickReader(folder, MAX_SEARCHED)
      const walk = target?.type === "file" ? undefined : walkFiles(folder, path, walking)
      const ended = await forEachFile(walk ?? (target ? [target] : []), (file) => {
        if (glob && !glob.matches(file.path)) return
        const bytes = reader.read(file.path, mayHold)
        if (bytes === "large") left++
        if (bytes === undefined || bytes === "large") return
        const text = bytes.toString("utf8")
        if (search) return search.add(file.path, text)?.then(show)
        return show(plainLines(file.path, text))
      })
      if (search && ended !== "enough") show(await search.rest())
      const notices = [
        ...(ended === "timed_out"
          ? [
              `[Stopped after ${WITHIN_MS / 1000} s; search_in_files ${JSON.stringify({ pattern, path: "…" })} searches one directory.]`,
            ]
          : []),
        ...(left > 0 ? [`[${left} file(s) over 1 MB were not searched.]`] : []),
        ...(walk?.left ?? []),
      ]
      if (lines.length === 0) return [`Nothing found for ${displayName(pattern)}.`, ...notices].join("\n")
      const first = lines.slice(0, MAX)
      if (lines.length > MAX)
        first.push(
          `[The first ${MAX} lines. search_in_files ${JSON.stringify({ pattern, path: "…" })} with a directory or \`files\` finds the rest.]`,
        )
      return [...first, ...notices].join("\n")

      /** False for most files, which are then not decoded. */
      function mayHold(bytes: Buffer): boolean {
        return (!needle || bytes.includes(needle)) && !isBinary(bytes)
      }

      function show(found: Iterable<FoundLine>): "enough" | void {
        for (const { path: at, line, words } of found) {
          lines.push(`${displayName(at)}:${line + 1}: ${words.trimEnd().slice(0, MAX_IN_LINE)}`)
          if (lines.length > MAX) return "enough"
        }
      }

      function* plainLines(at: string, text: string): Iterable<FoundLine> {
        if (!text.includes(pattern)) return
        for (const [line, words] of text.split("\n").entries())
          if (words.includes(pattern)) yield { path: at, line, words }
      }
    },
  })
}
