import { createHash } from "node:crypto"
import { dirname } from "node:path"
import type { z } from "zod"
import type { Phrase } from "../../agent/definition/phrases.ts"
import {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  type WriteOutcome,
  type Preview,
  type Tool,
} from "../../agent/definition/tool.ts"
import { failure } from "../../protocol/errors.ts"
import type { ActionClass, Diff } from "../../protocol/proposals/proposal.ts"
import { homeOf, requireHome } from "./file-tool.ts"
import { type EditorBuffers, type HeldFile, heldText, requireSaved, withText, writeInEditor } from "./editor-buffers.ts"
import { type FileBytes, type Folder, type FoundPath, fileHash } from "./folder/folder.ts"
import type { KeptBytes } from "./folder/kept-bytes.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { whyProtected } from "./protected/paths.ts"
import { missingDirectories } from "./folder/missing-directories.ts"
import { isBinary } from "./read-file.ts"
import { shown } from "./folder/shown.ts"
import { insisting, whyProtectedAt } from "./protected/why-protected-at.ts"

const MAX_SHOWN = 100_000
const SHARED = " (it has other names, hard links, which keep what they have: the link between them is broken)"

/** One file as it is and as it would be; `undefined` stands for no file. */
export interface FileChange {
  readonly path: string
  readonly before: HeldFile | undefined
  readonly after: Buffer | undefined
  readonly mode?: number
  /** Directories that are made for it, the outermost first. */
  readonly directories?: readonly string[]
  readonly summary: string
  readonly action: ActionClass
}

interface Said {
  readonly path: string
}

export interface ChangeTool<Input extends Said> {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly phrases?: readonly Phrase[]
  readonly onlyUndoes?: true
  /** `look` tells what is there, as the person's editor holds it where there is one. */
  plan(input: Input, look: LookAt): FileChange
  /** What was done, in words. */
  say(path: string): string
}

export interface ChangePorts {
  readonly folder: Folder
  readonly kept: KeptBytes
  /** The editor of the person, where there is one. */
  readonly buffers?: EditorBuffers | undefined
}

export type LookAt = (path: string) => { readonly real: string; readonly before: HeldFile | undefined }

/**
 * A change of one file. What is shown is planned from what is there, and is done only while that is still there; the
 * bytes that go are kept first. After a crash the file itself tells: it has the one hash or the other.
 */
export function changeTool<Input extends Said>(
  { plan, say, ...tool }: ChangeTool<Input>,
  { folder, kept, buffers }: ChangePorts,
): Tool {
  return defineTool<Input>({
    ...tool,
    effect: "write",
    brings: "private",
    preview(input, context) {
      requireHome(folder, context)
      return asHeld(input, (change) => toPreview(folder, change, input.path))
    },
    run(input, context) {
      requireHome(folder, context)
      return asHeld(input, (change) => {
        const preview = toPreview(folder, change, input.path)
        requireAgreed(preview, context)
        if (change.before) kept.keep(change.before.bytes)
        const write = takesInEditor(change) ? buffers?.write : undefined
        if (write) return inEditor(change, write).then((note) => told(context, preview, note))
        apply(folder, change)
        return told(context, preview)
      })
    },
    afterCrash: "ask-target",
    outcome(_callId, _input, context): WriteOutcome {
      const { target = "", revision = "" } = context.agreed ?? {}
      const { before, after, mode } = fromRevision(revision)
      if (revision !== toRevision(folder, { before, after, path: target, mode })) return "unknown"
      const isThere = missingDirectories(folder, dirname(target)).length === 0
      if (isThere) folder.sweepBeside(target)
      const now = isThere ? hashAt(folder, target) : "absent"
      if (now === after) return told(context, { target, revision })
      return now === before ? "not-applied" : "unknown"
    },
    inverse: (_input, { data }) => {
      const { path, before, after, mode } = data as Done
      return { tool: RESTORE, input: { path, content: before, expect: after, ...(mode === undefined ? {} : { mode }) } }
    },
  })

  /** Plans by what is there now. Without an editor nothing is waited for between the look and the write. */
  function asHeld<Value>(input: Input, work: (change: FileChange) => Value | Promise<Value>): Value | Promise<Value> {
    const planned = (text: string | undefined) => {
      const change = plan(input, (path) => lookAt(folder, path, text))
      if (!buffers?.write || !takesInEditor(change)) requireSaved(change.before)
      return work(change)
    }
    return buffers ? heldText(folder, input.path, buffers).then(planned) : planned(undefined)
  }

  async function inEditor({ path, after, directories = [] }: FileChange, write: NonNullable<EditorBuffers["write"]>) {
    for (const directory of directories) folder.makeDirectory(directory)
    const saved = await writeInEditor(folder, write, { path, text: after?.toString("utf8") ?? "" })
    return saved === "saved" ? "" : " The editor holds it; on disk it is not the same."
  }

  function told(context: CallContext, preview: Partial<Preview>, note = ""): Answer {
    const { target = "", revision = "", diff } = preview
    const { before, after, mode } = fromRevision(revision)
    const protectedBy = whyProtected(target)
    const data: Done = { path: target, before, after, ...(mode === undefined ? {} : { mode }) }
    return answer(`${say(target)}${protectedBy ? ` (${protectedBy})` : ""}${note}`, {
      data,
      ...(diff ? { change: diff } : {}),
      ...homeOf(folder, context),
    })
  }
}

export const RESTORE = "restore_file"

interface Done {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly mode?: number
}

/** Text that takes the place of a text, or is new; a mode that has to be set is set on disk. */
const takesInEditor = ({ after, mode }: FileChange): boolean =>
  after !== undefined && mode === undefined && !isBinary(after)

function apply(folder: Folder, { path, before, after, mode, directories = [] }: FileChange): void {
  // A crash between them leaves some that are empty; the next try makes the rest.
  for (const directory of directories) folder.makeDirectory(directory)
  const expect = before?.hash ?? "absent"
  if (after) folder.write(path, after, { expect, ...(mode === undefined ? {} : { mode }) })
  else folder.remove(path, expect)
}

function toPreview(
  folder: Folder,
  { path, before, after, summary, action }: FileChange,
  said: string,
): Preview & { target: string; revision: string } {
  const hashes = { before: before?.hash ?? "absent", after: after ? fileHash(after) : "absent" }
  const protectedBy = whyProtectedAt(folder, path, said)
  return {
    ...insisting(`${summary}${before?.isShared ? SHARED : ""}`, protectedBy),
    action,
    diff: toDiff(path, before?.bytes, after),
    target: path,
    revision: toRevision(folder, { ...hashes, path, mode: before?.mode }),
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
  readonly before: string
  readonly after: string
  readonly mode: number | undefined
}

/**
 * Names the bytes before and after, and is bound to the place: the same change elsewhere is another one. The mode before
 * stands in it because nothing else has it once the file is gone: an undo after a crash would make a script none.
 */
function toRevision({ id }: Folder, { before, after, path, mode }: Revision & { readonly path: string }): string {
  const place = createHash("sha256").update(`${id}\0${path}`).digest("base64url")
  return `${before}${mode === undefined ? "" : `:${mode.toString(8)}`}>${after}@${place}`
}

function fromRevision(revision: string): Revision {
  const [, before = "", mode, after = ""] = /^([^>:]+)(?::([0-7]+))?>([^@]+)@/.exec(revision) ?? []
  return { before, after, mode: mode === undefined ? undefined : Number.parseInt(mode, 8) }
}

export function requireAgreed({ revision, target }: Preview, { agreed }: CallContext): void {
  if (agreed?.revision === undefined || agreed.revision === revision) return
  throw failure("row_stale", { noun: "file", id: shown(target ?? ""), columns: "the content" })
}

function hashAt(folder: Folder, path: string): string {
  return folder.find(path) ? folder.read(path, MAX_REPLACED).hash : "absent"
}

/** What is at a path that a write is about, by its real name; without it, the name that it would get. `text`: as an editor has it. */
function lookAt(folder: Folder, path: string, text: string | undefined): ReturnType<LookAt> {
  const found: FoundPath | undefined = folder.find(path)
  if (!found) return { real: folder.realPath(path, "follow"), before: undefined }
  const before: FileBytes = folder.read(path, MAX_REPLACED)
  return { real: before.path, before: text === undefined ? before : withText(before, text) }
}
