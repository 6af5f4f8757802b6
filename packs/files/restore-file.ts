import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { type ChangePorts, changeTool, RESTORE } from "./change-tool.ts"
import { fileRefusal } from "./folder/folder.ts"
import { displayName } from "./folder/display-name.ts"

const Hash = z.union([z.literal("absent"), z.string().regex(/^[0-9a-f]{64}$/)])

/** Restores the exact previous bytes of a file. Only an undo calls it, because only it knows them. */
export function restoreFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: RESTORE,
      description: "Put a file back as it was.",
      onlyUndoes: true,
      input: z.strictObject({ path: z.string(), content: Hash, expect: Hash, mode: z.int().optional() }),
      plan({ path, content, expect, mode }, look) {
        const { real, before } = look(path)
        if ((before?.hash ?? "absent") !== expect)
          throw fileRefusal(`${displayName(real)} was changed since; what stands there now would be lost`)
        const after = content === "absent" ? undefined : ports.undoBytes.get(content)
        if (content !== "absent" && !after)
          throw fileRefusal(`The bytes that ${displayName(real)} had are no longer kept`)
        return {
          path: real,
          before,
          after,
          ...(mode === undefined ? {} : { mode }),
          summary: after
            ? `Put ${displayName(real)} back as it was (${after.length} bytes)`
            : `Take ${displayName(real)} away again`,
          action: after ? "safe_update" : "destructive_delete",
        }
      },
      say: (path) => `${displayName(path)} is as it was.`,
    },
    ports,
  )
}
