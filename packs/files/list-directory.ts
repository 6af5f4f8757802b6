import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import type { FolderEntry, Folder } from "./folder/folder.ts"
import { displayName } from "./folder/display-name.ts"

const MAX = 500

export function listDirectory(folder: Folder): Tool {
  return readTool(folder, {
    name: "list_directory",
    description: "List what is in a directory of the work folder: names, kinds and sizes. Directories end with /.",
    input: z.strictObject({
      path: z.string().max(4096).optional().describe("From the work folder on; the folder itself by default"),
    }),
    examples: [
      "list the files in src/",
      "show the files",
      "list files in docs",
      "what files are here",
      "what is in src",
    ],
    read({ path = "." }) {
      const { entries, more } = folder.list(path, MAX)
      if (entries.length === 0) return path === "." ? "The folder is empty." : `${displayName(path)} is empty.`
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

function toLine({ name, type, size }: FolderEntry): string {
  switch (type) {
    case "directory":
      return `${displayName(name)}/`
    case "file":
      return `${displayName(name)} (${size} bytes)`
    case "link":
      return `${displayName(name)} (a link)`
    case "other":
      return `${displayName(name)} (neither file nor directory: never opened)`
  }
}
