import { posix } from "node:path"
import type { z } from "zod"
import type { ActionClass, CallContext, SiblingCall } from "../../core/pack.ts"
import type { EditorFile } from "./editor-buffers.ts"
import { fileHash, type Folder } from "./folder/folder.ts"

/** One file before and after a change; `undefined` if it does not exist. */
export interface FileChange {
  readonly path: string
  readonly before: EditorFile | undefined
  readonly after: Buffer | undefined
  readonly mode?: number
  /**
   * For a change of some lines: these lines, which do not depend on the rest of the file, so that two changes of
   * different lines are independent.
   */
  readonly lines?: string
  /** Directories to create for it, the outermost first. */
  readonly directories?: readonly string[]
  readonly summary: string
  readonly action: ActionClass
}

export interface PathInput {
  readonly path: string
}

/** Reads a file for a plan, with unsaved text of the person's editor if there is one. */
export type ReadTarget = (path: string) => { readonly real: string; readonly before: EditorFile | undefined }

/** How a tool plans its change of a file. */
export interface FilePlan {
  readonly input: z.ZodType<PathInput>
  plan(input: PathInput, look: ReadTarget): FileChange
}

export interface SiblingChange extends Pick<SiblingCall, "isBefore" | "state"> {
  plan(look: ReadTarget): FileChange
}

/** The other calls of the same reply that change this file. */
export function siblingChanges(
  { folder, plans }: { readonly folder: Folder; readonly plans: ReadonlyMap<string, FilePlan> },
  path: string,
  { siblings = [] }: Pick<CallContext, "siblings">,
): SiblingChange[] {
  if (siblings.length === 0) return []
  const file = realNameOf(folder, path)
  return siblings.flatMap(({ tool, input, isBefore, state }) => {
    const found = plans.get(tool)
    const read = found?.input.safeParse(input)
    if (!found || !read?.success || realNameOf(folder, read.data.path) !== file) return []
    return [{ isBefore, state, plan: (look: ReadTarget) => found.plan(read.data, look) }]
  })
}

function realNameOf(folder: Folder, path: string): string {
  try {
    return folder.realPath(path, "follow")
  } catch {
    return posix.normalize(path) // a missing directory cannot be a link
  }
}

/** The file after these changes, one after the other. A change that does not apply is skipped: its own call fails. */
export function afterChanges(
  real: string,
  file: EditorFile | undefined,
  changes: readonly SiblingChange[],
): EditorFile | undefined {
  let left = file
  for (const { plan } of changes) {
    try {
      left = afterChange(plan(() => ({ real, before: left })))
    } catch {
      continue
    }
  }
  return left
}

export function afterChange({ path, before, after, mode }: FileChange): EditorFile | undefined {
  return (
    after &&
    fileWithBytes(path, after, {
      mode: 0o644,
      hasOutsideLinks: false,
      ...before,
      ...(mode === undefined ? {} : { mode }),
    })
  )
}

/** A file with other bytes than on disk. */
export function fileWithBytes(
  path: string,
  bytes: Buffer,
  like: Pick<EditorFile, "mode" | "hasOutsideLinks" | "isUnsaved">,
): EditorFile {
  const { mode, hasOutsideLinks: hasOutsideLinks, isUnsaved } = like
  const file = { type: "file", path, mode, hasOutsideLinks, bytes, size: bytes.length, hash: fileHash(bytes) } as const
  return isUnsaved ? { ...file, isUnsaved } : file
}
