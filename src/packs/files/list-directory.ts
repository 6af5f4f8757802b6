import { z } from "zod"
import type { Tool } from "../../agent/definition/tool.ts"
import { readTool } from "./file-tool.ts"
import type { FolderEntry, Folder } from "./folder/folder.ts"
import { filePhrase } from "./phrase.ts"
import { lazily } from "../../protocol/lazily.ts"
import { shown } from "./folder/shown.ts"

const MAX = 500
const FILLERS = "(?: (?:me|all|the|my|files|directory|folder|contents|everything|of|in|here))*"

export function listDirectory(folder: Folder): Tool {
  return readTool(folder, {
    name: "list_directory",
    description: "List what is in a directory of the work folder: names, kinds and sizes. Directories end with /.",
    input: lazily(() =>
      z.strictObject({
        path: z.string().max(4096).optional().describe("From the work folder on; the folder itself by default"),
      }),
    ),
    phrases: [
      filePhrase(`(?:list|ls)${FILLERS}(?: (?<path>[^ ]*[./][^ ]*))?`, "list the files in src/", ofPath),
      filePhrase(
        "show(?: me)?(?: all)?(?: the| my)? (?:files|folder|directory)(?: (?:in|of) (?<path>.+))?",
        "show the files",
        ofPath,
      ),
      filePhrase(
        "(?:list|ls)(?: the)?(?: files)? (?:in|of)(?: the)?(?: folder| directory)? (?<path>.+)",
        "list files in docs",
        ofPath,
      ),
      filePhrase("what(?:'s| is| files are)(?: in)?(?: here| this folder| there)", "what files are here", () => ({})),
      filePhrase("what(?:'s| is) in (?<path>.+)", "what is in src", ofPath),
    ],
    read({ path = "." }) {
      const { entries, more } = folder.list(path, MAX)
      if (entries.length === 0) return `${shown(path)} is empty.`
      const lines = entries.map(toLine)
      const first = JSON.stringify({
        path: path === "." ? undefined : path,
        pattern: `${entries.at(-1)?.name.slice(0, 1) ?? ""}*`,
      })
      if (more > 0) lines.push(`[${MAX} of ${MAX + more} shown. find_files ${first} finds by name.]`)
      return lines.join("\n")
    },
  })
}

function ofPath(said: (group: string) => string): Record<string, unknown> {
  return { path: said("path") }
}

function toLine({ name, type, size }: FolderEntry): string {
  switch (type) {
    case "directory":
      return `${shown(name)}/`
    case "file":
      return `${shown(name)} (${size} bytes)`
    case "link":
      return `${shown(name)} (a link)`
    case "other":
      return `${shown(name)} (neither file nor directory: never opened)`
  }
}
