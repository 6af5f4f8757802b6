import { z } from "zod"
import { answer, type CallContext, defineTool, type Preview, type Tool, type WriteOutcome } from "../../core/pack.ts"
import { requireAgreed } from "./change-tool.ts"
import { homeOf, enterFolder } from "./file-tool.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { missing } from "./folder/local-folder.ts"
import { displayName } from "./folder/display-name.ts"
import { protectedPreview, whyProtectedAt } from "./protected/why-protected-at.ts"

/**
 * Deletes an entry that is not a file: a link (never its target), an empty directory, a pipe or a socket. The approval
 * is for this entry, not for its name. After a crash the name shows whether it was deleted.
 */
export function deleteEntry(folder: Folder): Tool {
  return defineTool<{ path: string }>({
    name: "delete_entry",
    description:
      "Delete what is no file in the work folder: a link (not what it leads to), an empty directory, a pipe or a socket. It cannot be undone. Files are deleted with delete_file.",
    input: z.strictObject({ path: z.string().min(1).max(4096) }),
    examples: ["delete the link latest"],
    effect: "write",
    taint: "private",
    staysIn: "folder",
    preview: ({ path }, context) => look(path, context),
    run({ path }, context) {
      const preview = look(path, context)
      requireAgreed(preview, context)
      folder.removeEntry(preview.target, preview.identity)
      return toAnswer(preview.target, context)
    },
    afterCrash: "ask-target",
    outcome(_callId, _input, context): WriteOutcome {
      enterFolder(folder, context)
      const { target = "", revision } = context.approved ?? {}
      const now = folder.identityOf(target)
      if (now === undefined) return toAnswer(target, context)
      return revision === toRevision(target, now) ? "not-applied" : "unknown"
    },
    inverse: false,
  })

  function look(path: string, context: CallContext): Preview & { target: string; identity: string } {
    enterFolder(folder, context)
    const target = folder.realPath(path, "keep")
    const [kind, identity] = [folder.kindOf(target), folder.identityOf(target)]
    if (kind === undefined || identity === undefined) throw missing(path)
    if (kind === "file")
      throw fileRefusal(`${displayName(target)} is a file; delete_file deletes it, and can be undone`)
    if (target === "") throw fileRefusal("The work folder itself is not deleted")
    if (kind === "directory" && folder.list(target, 1).entries.length > 0)
      throw fileRefusal(`${displayName(target)} is not empty; delete what is in it first, or use run_command`)
    const what = {
      link: `the link ${displayName(target)} → ${displayName(folder.linkText(target) ?? "")}, and not what it leads to`,
      directory: `the empty directory ${displayName(target)}`,
      other: `${displayName(target)}, which is a pipe, a socket or a device`,
    }[kind]
    const protectedBy = whyProtectedAt(folder, target, path)
    return {
      ...protectedPreview(`Delete ${what}`, protectedBy),
      action: "destructive_delete",
      target,
      identity,
      revision: toRevision(target, identity),
    }
  }

  function toRevision(target: string, identity: string): string {
    return `${folder.id}:${identity}@${target}`
  }

  function toAnswer(target: string, context: CallContext) {
    return answer(`${displayName(target)} is deleted.`, homeOf(folder, context))
  }
}
