import { z } from "zod"
import {
  answer,
  boundedList,
  type CallContext,
  defineTool,
  type Preview,
  type Tool,
  type WriteOutcome,
} from "../../core/pack.ts"
import { requireAgreed } from "./change-tool.ts"
import { homeOf, enterFolder } from "./file-tool.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { missingDirectories } from "./folder/missing-directories.ts"
import { displayName } from "./folder/display-name.ts"
import { protectedPreview, whyProtectedAt } from "./protected/why-protected-at.ts"

const REMOVE = "remove_directories"

/** Creates a directory and its missing parents. The undo removes exactly these, if they are empty. */
export function createDirectory(folder: Folder): Tool {
  return defineTool<{ path: string }>({
    name: "create_directory",
    description: "Make a directory in the work folder, with the missing ones above it.",
    input: z.strictObject({ path: z.string().min(1).max(4096) }),
    examples: ["create directory src/new"],
    effect: "write",
    taint: "private",
    staysIn: "folder",
    preview: ({ path }, context) => look(path, context),
    run({ path }, context) {
      requireAgreed(look(path, context), context)
      const made = missingDirectories(folder, path)
      for (const one of made) folder.makeDirectory(one)
      return toAnswer(path, made, context)
    },
    afterCrash: "ask-target",
    outcome(_callId, { path }, context): WriteOutcome {
      enterFolder(folder, context)
      // After a crash some of them may exist. Creating the rest is part of the approved call.
      return folder.find(path)?.type === "directory" ? toAnswer(path, [path], context) : "not-applied"
    },
    inverse: (_input, { data }) => ({ tool: REMOVE, input: { paths: (data as { made: string[] }).made.toReversed() } }),
  })

  function look(path: string, context: CallContext): Preview {
    enterFolder(folder, context)
    const made = missingDirectories(folder, path)
    if (made.length === 0) throw fileRefusal(`${displayName(path)} exists already`)
    const target = made.at(-1) ?? path
    const protectedBy = whyProtectedAt(folder, target, path)
    const summary = `Create directory ${displayName(target)}`
    return {
      ...protectedPreview(summary, protectedBy),
      action: "safe_create",
      diff: { before: null, after: { path: target } },
      target,
      revision: `${folder.id}:${target}`,
    }
  }

  function toAnswer(path: string, made: readonly string[], context: CallContext) {
    return answer(`${displayName(path)} is made.`, { data: { made }, ...homeOf(folder, context) })
  }
}

export function removeDirectories(folder: Folder): Tool {
  return defineTool<{ paths: string[] }>({
    name: REMOVE,
    description: "Take empty directories away again.",
    onlyUndoes: true,
    input: z.strictObject({ paths: boundedList(z.string(), 256) }),
    effect: "write",
    preview({ paths }, context) {
      enterFolder(folder, context)
      const full = paths.find((path) =>
        folder.list(path, 2).entries.some(({ name }) => !paths.includes(`${path}/${name}`)),
      )
      if (full !== undefined) throw fileRefusal(`${displayName(full)} is not empty by now`)
      return {
        summary: `Remove ${paths.map(displayName).join(", ")}`,
        action: "destructive_delete",
        revision: folder.id,
      }
    },
    run({ paths }, context) {
      enterFolder(folder, context)
      for (const path of paths) if (folder.find(path)) folder.removeDirectory(path)
      return answer(`${paths.map(displayName).join(", ")}: removed.`)
    },
    afterCrash: "run-again",
    inverse: ({ paths }) => ({ tool: "create_directory", input: { path: paths[0] } }),
  })
}
