import type { RE2JS } from "re2js"
import { z } from "zod"
import type { Tool } from "../../agent/definition/tool.ts"
import { readTool } from "./file-tool.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { loadEngine, toFileGlob } from "./folder/glob.ts"
import { filePhrase } from "./phrase.ts"
import { isBinary } from "./read-file.ts"
import { QuickReader } from "./folder/quick-reader.ts"
import { shown } from "./folder/shown.ts"
import { lazily } from "../../protocol/lazily.ts"
import { goThrough, walkFiles } from "./folder/walk-files.ts"

const MAX = 100
const MAX_SEARCHED = 1024 * 1024
const MAX_IN_LINE = 300
const WITHIN_MS = 10_000

/** Searches with an engine that takes time in proportion to what it reads: no pattern can hold it up. */
export function searchInFiles(folder: Folder): Tool {
  return readTool(folder, {
    name: "search_in_files",
    description:
      "Search the text of files in the work folder, line by line. Gives path, line number and line. The pattern is plain text unless `regex` is true (RE2 syntax: no backreferences). What .gitignore leaves out, files over 1 MB and binary files are left out.",
    input: lazily(() =>
      z.strictObject({
        pattern: z.string().min(1).max(1000),
        path: z.string().max(4096).optional().describe("A directory or one file; the whole work folder by default"),
        files: z.string().max(500).optional().describe("Only files like this, such as *.ts"),
        regex: z.boolean().optional(),
        ignore_case: z.boolean().optional(),
      }),
    ),
    phrases: [
      filePhrase(
        "(?:search|grep|look)(?: for)? (?<pattern>[\"'`“][^\"'`”]+[\"'`”]|[^ ]+)(?: in (?<path>[^ ]+))?",
        "search for TODO in src",
        ofSearch,
      ),
      filePhrase(
        "(?:search|grep|look)(?: for)? (?<pattern>.+?) in (?<path>[^ ]+)",
        "search for hello world in docs",
        ofSearch,
      ),
      filePhrase("which files (?:contain|mention|have) (?<pattern>.+)", "which files mention TODO", ofSearch),
      filePhrase("where is (?<pattern>.+) (?:used|mentioned|defined)", "where is openFolder used", ofSearch),
    ],
    timeoutSeconds: 30,
    async read({ pattern, path = ".", files, regex = false, ignore_case = false }, { signal }) {
      const engine = await loadEngine()
      const search = compile(engine, { pattern, regex, ignoreCase: ignore_case })
      const glob = files === undefined ? undefined : toFileGlob(engine, files)
      const needle = regex || ignore_case ? undefined : Buffer.from(pattern)
      const lines: string[] = []
      let left = 0
      const target = folder.find(path)
      const walking = { signal, withinMs: WITHIN_MS, sizes: "no-sizes" } as const
      using reader = new QuickReader(folder, MAX_SEARCHED)
      const walk = target?.type === "file" ? undefined : walkFiles(folder, path, walking)
      const ended = await goThrough(walk ?? (target ? [target] : []), (file) => {
        if (glob && !glob.matches(file.path)) return
        const bytes = reader.read(file.path, mayHold)
        if (bytes === "large") left++
        else if (bytes) searchOne(file.path, bytes)
        if (lines.length > MAX) return "enough"
      })
      const notices = [
        ...(ended === "late"
          ? [
              `[Stopped after ${WITHIN_MS / 1000} s; search_in_files ${JSON.stringify({ pattern, path: "…" })} searches one directory.]`,
            ]
          : []),
        ...(left > 0 ? [`[${left} file(s) over 1 MB were not searched.]`] : []),
        ...(walk?.left ?? []),
      ]
      if (lines.length === 0) return [`Nothing found for ${shown(pattern)}.`, ...notices].join("\n")
      const first = lines.slice(0, MAX)
      if (lines.length > MAX)
        first.push(
          `[The first ${MAX} lines. search_in_files ${JSON.stringify({ pattern, path: "…" })} with a directory or \`files\` finds the rest.]`,
        )
      return [...first, ...notices].join("\n")

      /** Most files do not hold it: those are never made into text. */
      function mayHold(bytes: Buffer): boolean {
        return (!needle || bytes.includes(needle)) && !isBinary(bytes)
      }

      function searchOne(at: string, bytes: Buffer): void {
        const text = bytes.toString("utf8")
        if (!search(text)) return
        for (const [index, line] of text.split("\n").entries()) {
          if (!search(line)) continue
          lines.push(`${shown(at)}:${index + 1}: ${line.trimEnd().slice(0, MAX_IN_LINE)}`)
          if (lines.length > MAX) return
        }
      }
    },
  })
}

function ofSearch(said: (group: string) => string): Record<string, unknown> {
  return { pattern: said("pattern"), path: said("path") }
}

interface Searched {
  readonly pattern: string
  readonly regex: boolean
  readonly ignoreCase: boolean
}

function compile(engine: typeof RE2JS, { pattern, regex, ignoreCase }: Searched): (text: string) => boolean {
  if (!regex && !ignoreCase) return (text) => text.includes(pattern)
  try {
    const flags = engine.MULTILINE | (ignoreCase ? engine.CASE_INSENSITIVE : 0)
    const compiled = engine.compile(regex ? pattern : engine.quote(pattern), flags)
    return (text) => compiled.test(text)
  } catch (error) {
    throw fileRefusal(
      `The pattern is no regular expression of RE2: ${(error as Error).message}. Leave \`regex\` out to search for plain text`,
    )
  }
}
