import { createHash } from "node:crypto"
import { z } from "zod"
import { answer, type CallContext, defineTool, type Preview, type Tool, type WriteOutcome } from "../../core/pack.ts"
import { requireAgreed } from "./change-tool.ts"
import { homeOf, enterFolder } from "./file-tool.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { missing } from "./folder/local-folder.ts"
import { displayName } from "./folder/display-name.ts"
import { protectedPreview, whyProtectedAt, whyProtectedBelow } from "./protected/why-protected-at.ts"

interface Move {
  readonly from: string
  readonly to: string
}

/** Renames a file or a directory. An existing target is never overwritten. */
export function moveFile(folder: Folder): Tool {
  return defineTool<Move>({
    name: "move_file",
    description:
      "Move or rename a file or directory within the work folder. What is at the new place is never overwritten.",
    input: z.strictObject({ from: z.string().min(1).max(4096), to: z.string().min(1).max(4096) }),
    examples: ["rename a.txt to b.txt"],
    effect: "write",
    taint: "private",
    staysIn: "folder",
    preview: (move, context) => look(move, context),
    run(move, context) {
      requireAgreed(look(move, context), context)
      folder.move(folder.realPath(move.from, "keep"), folder.realPath(move.to, "keep"))
      return toAnswer(move, context)
    },
    afterCrash: "ask-target",
    outcome(_callId, move, context): WriteOutcome {
      enterFolder(folder, context)
      const [old, moved] = [exists(move.from), exists(move.to)]
      if (!old && moved) return toAnswer(move, context)
      return old && !moved ? "not-applied" : "unknown"
    },
    inverse: ({ from, to }) => ({ tool: "move_file", input: { from: to, to: from } }),
  })

  function look({ from, to }: Move, context: CallContext): Preview {
    enterFolder(folder, context)
    const found = folder.kindOf(from)
    if (!found) throw missing(from)
    if (exists(to)) throw fileRefusal(`${displayName(to)} exists already; delete or move it first`)
    const [source, target] = [folder.realPath(from, "keep"), folder.realPath(to, "keep")]
    const protectedBy =
      whyProtectedAt(folder, source, from) ??
      whyProtectedAt(folder, target, to) ??
      (found === "directory" ? whyProtectedBelow(folder, source) : undefined)
    const summary = `Move ${displayName(source)}${found === "directory" ? "/" : ""} to ${displayName(target)}`
    const all = [folder.id, source, target, found, protectedBy].join("\0")
    return {
      ...protectedPreview(summary, protectedBy),
      action: "safe_update",
      diff: { before: { path: source }, after: { path: target } },
      target: source,
      revision: createHash("sha256").update(all).digest("base64url"),
    }
  }

  function exists(path: string): boolean {
    try {
      return folder.kindOf(path) !== undefined
    } catch {
      return false
    }
  }

  function toAnswer({ from, to }: Move, context: CallContext) {
    return answer(`${displayName(from)} is ${displayName(to)} now.`, { data: { from, to }, ...homeOf(folder, context) })
  }
}
