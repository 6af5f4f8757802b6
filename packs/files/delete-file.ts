import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { type ChangePorts, changeTool } from "./change-tool.ts"
import { fileRefusal } from "./folder/folder.ts"
import { missing } from "./folder/local-folder.ts"
import { displayName } from "./folder/display-name.ts"

const KINDS = { link: "a link", directory: "a directory", other: "a pipe, a socket or a device" } as const

export function deleteFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: "delete_file",
      description: "Delete one file of the work folder. An undo restores it.",
      input: z.strictObject({ path: z.string().min(1).max(4096) }),
      examples: ["delete old.txt"],
      plan({ path }, look) {
        // Deletes the link that was shown, not its target.
        const kind = ports.folder.kindOf(path)
        if (kind === "link" || kind === "directory" || kind === "other")
          throw fileRefusal(`${displayName(path)} is ${KINDS[kind]}; delete_entry deletes it`)
        const { real, before } = look(path)
        if (!before) throw missing(path)
        const summary = `Delete ${displayName(real)} (${before.size} bytes)`
        return { path: real, before, after: undefined, summary, action: "destructive_delete" }
      },
      say: (path) => `${displayName(path)} is deleted.`,
    },
    ports,
  )
}
