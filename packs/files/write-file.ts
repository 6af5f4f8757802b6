import { basename, dirname } from "node:path"
import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { type ChangePorts, changeTool } from "./change-tool.ts"
import { fileRefusal } from "./folder/folder.ts"
import { missingDirectories } from "./folder/missing-directories.ts"
import { displayName } from "./folder/display-name.ts"

export const MAX_WRITTEN = 1_000_000

export function writeFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: "write_file",
      description:
        "Make a file of the work folder, or replace all of one; directories that are missing above it are made too. To change a part of a file use edit_file.",
      input: z.strictObject({
        path: z.string().min(1).max(4096),
        content: z.string().max(MAX_WRITTEN).describe("The whole text of the file"),
      }),
      examples: ["create notes.txt with hello", "write hello to notes.txt", "create an empty file todo.txt"],
      plan({ path, content }, look) {
        const directories = missingDirectories(ports.folder, dirname(path))
        const above = directories.at(-1)
        if (above !== undefined && /^\.*$/.test(basename(path)))
          throw fileRefusal(`${displayName(path)} is not a file name`)
        const { real, before } = look(path)
        const after = Buffer.from(content, "utf8")
        if (before?.bytes.equals(after))
          throw fileRefusal(`Nothing would change: ${displayName(real)} holds just that already`)
        const bytes = `${after.length} bytes`
        return {
          path: real,
          before,
          after,
          summary: before
            ? `Replace all of ${displayName(real)} (${before.size} bytes) by ${bytes}`
            : `Create ${displayName(real)} (${bytes})${above === undefined ? "" : `, and the directory ${displayName(above)} for it`}`,
          directories,
          action: before ? "destructive_update" : "safe_create",
        }
      },
      say: (path) => `${displayName(path)} is written.`,
    },
    ports,
  )
}
