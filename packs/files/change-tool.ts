import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import type { z } from "zod"
import {
  answer,
  type CallContext,
  defineTool,
  type Diff,
  failure,
  type Preview,
  type Tool,
  type WriteOutcome,
} from "../../core/pack.ts"
import { homeOf, enterFolder } from "./file-tool.ts"
import {
  type EditorBuffers,
  type EditorFile,
  editorText,
  requireSaved,
  withText,
  writeInEditor,
} from "./editor-buffers.ts"
import { type FileBytes, fileHash, fileRefusal, type Folder, type FoundPath } from "./folder/folder.ts"
import type { UndoBytes } from "./folder/undo-bytes.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { whyProtected } from "./protected/paths.ts"
import { missingDirectories } from "./folder/missing-directories.ts"
import { isBinary } from "./read-file.ts"
import {
  afterChange,
  afterChanges,
  type FileChange,
  type FilePlan,
  fileWithBytes,
  type ReadTarget,
  type PathInput,
  type SiblingChange,
  siblingChanges,
} from "./file-change.ts"
import { displayName as shownPath } from "./folder/display-name.ts"
import { protectedPreview, whyProtectedAt } from "./protected/why-protected-at.ts"

const MAX_SHOWN = 100_000
const SHARED = " (it has other names, hard links, which keep what they have: the link between them is broken)"

export interface ChangeTool<Input extends PathInput> {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly examples?: readonly string[]
  readonly onlyUndoes?: true
  /** `look` reads the current file, with unsaved text of the person's editor if there is one. */
  plan(input: Input, look: ReadTarget): FileChange
  /** The sentence that reports the change. */
  say(path: string): string
}

export interface ChangePorts {
  readonly folder: Folder
  readonly undoBytes: UndoBytes
  /** The person's editor, if any. */
  readonly buffers?: EditorBuffers | undefined
  /** Plans of all change tools, by name. Each tool adds its own. */
  readonly plans: Map<string, FilePlan>
}

/**
 * A tool that changes one file. The preview is planned from the current file, and applied only if the file is still the
 * same. Replaced bytes are stored first. After a crash the file's hash shows whether the change was applied.
 */
export function changeTool<Input extends PathInput>(
  { plan, say, ...tool }: ChangeTool<Input>,
  { folder, undoBytes, buffers, plans }: ChangePorts,
): Tool {
  plans.set(tool.name, { input: tool.input, plan } as unknown as FilePlan)
  return defineTool<Input>({
    ...tool,
    effect: "write",
    taint: "private",
    staysIn: "folder",
    preview(input, context) {
      enterFolder(folder, context)
      return asHeld(input, context, (planned) => {
        if ("unmet" in planned) return { summary: "", action: "safe_update", ...planned }
        return toPreview(folder, planned, input.path)
      })
    },
    run(input, context) {
      enterFolder(folder, context)
      return asHeld(input, context, (planned) => {
        if ("unmet" in planned) throw fileRefusal(`Not done: ${planned.unmet}`)
        const { change } = planned
        const preview = toPreview(folder, planned, input.path)
        requireAgreed(preview, context)
        if (change.before) undoBytes.store(change.before.bytes)
        const write = takesInEditor(change) ? buffers?.write : undefined
        const done = { ...change, diff: preview.diff }
        if (write) return inEditor(change, write).then((note) => toAnswer(context, done, note))
        apply(folder, change)
        return toAnswer(context, done)
      })
    },
    afterCrash: "ask-target",
    outcome(_callId, input, context): WriteOutcome {
      const { target = "", revision = "" } = context.approved ?? {}
      const shown = fromRevision(revision)
      if (revision !== toRevision(folder, { ...shown, path: target })) return "unknown"
      const isThere = missingDirectories(folder, dirname(target)).length === 0
      if (isThere) folder.deleteStaleDrafts(target)
      const now = isThere ? hashAt(folder, target) : "absent"
      const applied = appliedOf(siblingChanges({ folder, plans }, target, context))
      if (applied.length === 0 && now === shown.before) return "not-applied"
      const before = beforeRun(shown, target, applied)
      if (before === "unknown") return "unknown"
      if (applied.length > 0 && now === hashOf(before)) return "not-applied"
      try {
        const change = plan(input, () => ({ real: target, before }))
        return now === hashOf(afterChange(change)) ? toAnswer(context, change) : "unknown"
      } catch {
        return "unknown"
      }
    },
    inverse: (_input, { data }) => {
      const { path, before, after, mode } = data as Done
      return { tool: RESTORE, input: { path, content: before, expect: after, ...(mode === undefined ? {} : { mode }) } }
    },
  })

  /**
   * Plans from the current file. Without an editor this is synchronous, so no other task runs between the read and the
   * write.
   */
  function asHeld<Value>(
    input: Input,
    context: CallContext,
    work: (planned: Planned | Unmet) => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const planned = (text: string | undefined) => {
      const look: ReadTarget = (path) => readTarget(folder, path, text)
      const made = context.approved ? planAgreed(input, context, look) : planShown(input, context, look)
      if ("change" in made && (!buffers?.write || !takesInEditor(made.change))) requireSaved(made.change.before)
      return work(made)
    }
    return buffers ? editorText(folder, input.path, buffers).then(planned) : planned(undefined)
  }

  /**
   * Plans the preview: the change on top of the previous changes of the same reply, which a person may approve
   * together.
   */
  function planShown(input: Input, context: CallContext, look: ReadTarget): Planned {
    const before = siblingChanges({ folder, plans }, input.path, context).filter(isShownBefore)
    let now: EditorFile | undefined
    const change = plan(input, (path) => {
      const seen = look(path)
      now = seen.before
      return { real: seen.real, before: afterChanges(seen.real, now, before) }
    })
    return { change, base: baseOf(now) }
  }

  /**
   * Plans the approved change of the current file, if only approved sibling changes have changed it. Then the base is
   * the one that was shown, and the revision is equal if the same lines change in the same way.
   */
  function planAgreed(input: Input, context: CallContext, look: ReadTarget): Planned | Unmet {
    const shown = fromRevision(context.approved?.revision ?? "")
    const siblings = siblingChanges({ folder, plans }, input.path, context)
    let seen: ReturnType<ReadTarget> | undefined
    let change: FileChange | undefined
    let problem: unknown
    try {
      change = plan(input, (path) => (seen = look(path)))
    } catch (error) {
      problem = error
    }
    const isAsLeft = seen !== undefined && isLeftBy(shown, seen, appliedOf(siblings))
    const isShown = change !== undefined && digestOf(change) === shown.after
    if (seen && isAsLeft && !isShown && siblings.some(isUnmet))
      return {
        unmet: `it builds on another change of ${shownPath(seen.real)} in the same reply, which was not made; propose it again for the file as it is`,
      }
    if (!change) throw problem
    return { change, base: isAsLeft ? shown : baseOf(change.before) }
  }

  function isLeftBy(
    shown: Revision,
    { real, before }: ReturnType<ReadTarget>,
    applied: readonly SiblingChange[],
  ): boolean {
    if (applied.length === 0) return hashOf(before) === shown.before
    const left = beforeRun(shown, real, applied)
    return left !== "unknown" && hashOf(left) === hashOf(before)
  }

  /** The file that the preview was made for, with the sibling changes that were applied since. */
  function beforeRun(
    { before, mode = 0o644 }: Revision,
    real: string,
    applied: readonly SiblingChange[],
  ): EditorFile | undefined | "unknown" {
    if (before === "absent") return afterChanges(real, undefined, applied)
    const bytes = undoBytes.get(before)
    return bytes ? afterChanges(real, fileWithBytes(real, bytes, { mode, hasOutsideLinks: false }), applied) : "unknown"
  }

  async function inEditor({ path, after, directories = [] }: FileChange, write: NonNullable<EditorBuffers["write"]>) {
    for (const directory of directories) folder.makeDirectory(directory)
    const saved = await writeInEditor(folder, write, { path, text: after?.toString("utf8") ?? "" })
    return saved === "saved" ? "" : " The editor holds it; on disk it is not the same."
  }

  function toAnswer(
    context: CallContext,
    { path, before, after, diff }: FileChange & Pick<Preview, "diff">,
    note = "",
  ) {
    const protectedBy = whyProtected(path)
    const mode = before?.mode
    const hashes = { before: hashOf(before), after: after ? fileHash(after) : "absent" }
    const data: Done = { path, ...hashes, ...(mode === undefined ? {} : { mode }) }
    return answer(`${say(path)}${protectedBy ? ` (${protectedBy})` : ""}${note}`, {
      data,
      ...(diff ? { change: diff } : {}),
      ...homeOf(folder, context),
    })
  }
}

/** A change, and the file that its preview was made for. */
interface Planned {
  readonly change: FileChange
  readonly base: Pick<Revision, "before" | "mode">
}

interface Unmet {
  readonly unmet: string
}

const isShownBefore = ({ isBefore, state }: SiblingChange) => isBefore && state === "planned"
const isUnmet = ({ isBefore, state }: SiblingChange) => isBefore && state !== "applied"
const appliedOf = (siblings: readonly SiblingChange[]) => siblings.filter(({ state }) => state === "applied")

const hashOf = (file: EditorFile | undefined): string => file?.hash ?? "absent"
const baseOf = (file: EditorFile | undefined) => ({ before: hashOf(file), mode: file?.mode })

/**
 * Digest of what must be equal when the change runs: the lines that were shown, otherwise the whole file before and
 * after.
 */
function digestOf({ before, after, lines }: FileChange): string {
  const whole = `${hashOf(before)}>${after ? fileHash(after) : "absent"}`
  return createHash("sha256")
    .update(lines ?? whole)
    .digest("hex")
}

export const RESTORE = "restore_file"

interface Done {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly mode?: number
}

/** True if an editor can write the change: it can write text, but it cannot delete a file or set its mode. */
const takesInEditor = ({ after, mode }: FileChange): boolean =>
  after !== undefined && mode === undefined && !isBinary(after)

function apply(folder: Folder, { path, before, after, mode, directories = [] }: FileChange): void {
  // After a crash some of them may exist and be empty; the next attempt creates the rest.
  for (const directory of directories) folder.makeDirectory(directory)
  const expect = before?.hash ?? "absent"
  if (after) folder.write(path, after, { expect, ...(mode === undefined ? {} : { mode }) })
  else folder.remove(path, expect)
}

function toPreview(
  folder: Folder,
  { change, base }: Planned,
  requested: string,
): Preview & { target: string; revision: string } {
  const { path, before, after, summary, action } = change
  const protectedBy = whyProtectedAt(folder, path, requested)
  return {
    ...protectedPreview(`${summary}${before?.hasOutsideLinks ? SHARED : ""}`, protectedBy),
    action,
    diff: toDiff(path, before?.bytes, after),
    target: path,
    revision: toRevision(folder, { ...base, after: digestOf(change), path }),
  }
}

function toDiff(path: string, before: Buffer | undefined, after: Buffer | undefined): Diff {
  const side = (bytes: Buffer | undefined) => {
    if (!bytes) return null
    if (isBinary(bytes) || bytes.length > MAX_SHOWN) return { path, bytes: bytes.length, sha256: fileHash(bytes) }
    return { path, text: bytes.toString("utf8") }
  }
  return { before: side(before), after: side(after) }
}

interface Revision {
  /** The hash of the file when this was shown. */
  readonly before: string
  /** The change itself: `digestOf`. */
  readonly after: string
  readonly mode: number | undefined
}

/**
 * Identifies the file, its folder and the change: the same change in another folder is a different one. Contains the
 * mode, because it is not stored otherwise once the file is deleted: an undo after a crash would make a script not
 * executable.
 */
function toRevision({ id }: Folder, { before, after, path, mode }: Revision & { readonly path: string }): string {
  const place = createHash("sha256").update(`${id}\0${path}`).digest("base64url")
  return `${before}${mode === undefined ? "" : `:${mode.toString(8)}`}>${after}@${place}`
}

function fromRevision(revision: string): Revision {
  const [, before = "", mode, after = ""] = /^([^>:]+)(?::([0-7]+))?>([^@]+)@/.exec(revision) ?? []
  return { before, after, mode: mode === undefined ? undefined : Number.parseInt(mode, 8) }
}

export function requireAgreed({ revision, target }: Preview, { approved: agreed }: CallContext): void {
  if (agreed?.revision === undefined || agreed.revision === revision) return
  throw failure("row_stale", { noun: "file", id: shownPath(target ?? ""), columns: "the content" })
}

function hashAt(folder: Folder, path: string): string {
  return folder.find(path) ? folder.read(path, MAX_REPLACED).hash : "absent"
}

/** Reads the path of a write by its real name, or the name that it would get. `text`: the text in an editor. */
function readTarget(folder: Folder, path: string, text: string | undefined): ReturnType<ReadTarget> {
  const above = missingDirectories(folder, dirname(path)).at(-1)
  if (above !== undefined) return { real: join(above, basename(path)), before: undefined }
  const found: FoundPath | undefined = folder.find(path)
  if (!found) return { real: folder.realPath(path, "follow"), before: undefined }
  const before: FileBytes = folder.read(path, MAX_REPLACED)
  return { real: before.path, before: text === undefined ? before : withText(before, text) }
}
