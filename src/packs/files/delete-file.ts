import { z } from "zod"
import type { Tool } from "../../agent/tool.ts"
import { type ChangePorts, changeTool, lookAt } from "./change-tool.ts"
import { missing } from "./local-folder.ts"
import { phrase } from "./phrase.ts"
import { shown } from "./shown.ts"

export function deleteFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: "delete_file",
      description: "Delete one file of the work folder. It can be brought back by an undo.",
      input: z.strictObject({ path: z.string().min(1).max(4096) }),
      phrases: [
        phrase("(?:delete|remove|rm)(?: the)?(?: file)? (?<path>[^ ]+|[\"'`“].+[\"'`”])", "delete old.txt", (said) => ({
          path: said("path"),
        })),
      ],
      plan({ path }) {
        const { real, before } = lookAt(ports.folder, path)
        if (!before) throw missing(path)
        const summary = `Delete ${shown(real)} (${before.size} bytes)`
        return { path: real, before, after: undefined, summary, action: "destructive_delete" }
      },
      say: (path) => `${shown(path)} is deleted.`,
    },
    ports,
  )
}
