import type { MessageFile, UploadedFile } from "../../../core/protocol/index.ts"
import { forgetting } from "./identity.ts"
import { Store } from "./store.ts"
import { toast } from "./toasts.ts"
import { UploadQueue, uploadFile } from "./upload-queue.ts"
import { t } from "../strings/strings.ts"

/** How many files one message may have. */
const MAX_FILES = 10

/** A file of the draft message. */
export interface ChosenFile {
  readonly key: number
  readonly name: string
  /** `waiting` for an upload slot. */
  readonly state: "waiting" | "uploading" | "there" | "failed"
  /** Between 0 and 1. */
  readonly done: number
  /** The file, if it was chosen on this page. */
  readonly blob?: File
  /** The uploaded file. */
  readonly kept?: MessageFile
  readonly problem?: string
}

type Chosen = readonly ChosenFile[]

const queue = new UploadQueue<UploadedFile>({
  send: uploadFile,
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true })
    }),
})
const drafts = new Map<string, Store<Chosen>>()
const leaving = new Map<number, AbortController>()
let last = 0

/** The files of a draft, in order. They survive navigation within the page. */
export function filesOf(draft: string): Store<Chosen> {
  const known = drafts.get(draft)
  if (known) return known
  const store = new Store<Chosen>(readStored(draft).map(toChosen))
  drafts.set(draft, store)
  return store
}

/** Adds files. Each is uploaded when a slot is free. */
export function addFiles(draft: string, files: Iterable<File>): void {
  const chosen = [...files].map((blob): ChosenFile => ({
    key: ++last,
    name: blob.name,
    state: "waiting",
    done: 0,
    blob,
  }))
  for (const each of addUpTo(draft, chosen)) void upload(draft, each)
}

/** Adds files of a withdrawn message, which are on the server already. */
export function restoreFiles(draft: string, files: readonly MessageFile[]): void {
  const there = new Set(filesOf(draft).value.map(({ kept }) => kept?.id))
  addUpTo(draft, files.filter(({ id }) => !there.has(id)).map(toChosen))
}

/** Retries a failed upload. */
export function tryAgain(draft: string, key: number): void {
  const file = filesOf(draft).value.find((each) => each.key === key)
  if (file?.state === "failed") void upload(draft, file)
}

/** Removes a file and aborts its upload. */
export function removeFile(draft: string, key: number): void {
  set(
    draft,
    filesOf(draft).value.filter((each) => each.key !== key),
  )
  leaving.get(key)?.abort()
}

/** The message was sent or discarded. */
export function clearFiles(draft: string): void {
  for (const { key } of filesOf(draft).value) removeFile(draft, key)
}

// Cleared at sign-out, for the next person.
forgetting.add(() => {
  for (const draft of drafts.keys()) clearFiles(draft)
})

function addUpTo(draft: string, files: Chosen): Chosen {
  const before = filesOf(draft).value
  const taken = files.slice(0, Math.max(0, MAX_FILES - before.length))
  if (taken.length < files.length) toast(t("common.tooManyFiles", { max: MAX_FILES }))
  set(draft, [...before, ...taken])
  return taken
}

async function upload(draft: string, { key, blob }: ChosenFile): Promise<void> {
  if (!blob) return
  const gone = new AbortController()
  leaving.set(key, gone)
  change(draft, key, { state: "waiting", done: 0 })
  try {
    const kept = await queue.upload(blob, {
      signal: gone.signal,
      onBegin: () => change(draft, key, { state: "uploading" }),
      onProgress: (done) => change(draft, key, { done }),
    })
    change(draft, key, { state: "there", done: 1, kept })
  } catch (error) {
    change(draft, key, { state: "failed", problem: (error as Error).message })
  } finally {
    leaving.delete(key)
  }
}

/** Ignores a file that was removed in the meantime. */
function change(draft: string, key: number, changes: Partial<ChosenFile>): void {
  const { value } = filesOf(draft)
  if (!value.some((each) => each.key === key)) return
  set(
    draft,
    value.map((each) => {
      if (each.key !== key) return each
      const { problem: _, ...rest } = each
      return { ...rest, ...changes }
    }),
  )
}

const toChosen = (kept: MessageFile): ChosenFile => ({ key: ++last, name: kept.name, state: "there", done: 1, kept })

const place = (draft: string) => `pawl.draft-files.${draft}`

/** Stored for this tab, like the draft: a reload loses only unfinished uploads. */
function set(draft: string, files: Chosen): void {
  filesOf(draft).set(files)
  const kept = files.flatMap((each) => (each.kept ? [each.kept] : []))
  try {
    if (kept.length === 0) sessionStorage.removeItem(place(draft))
    else sessionStorage.setItem(place(draft), JSON.stringify(kept))
  } catch {
    // Storage is blocked; then they last as long as the page.
  }
}

function readStored(draft: string): readonly MessageFile[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(place(draft)) ?? "[]")
    return Array.isArray(kept) ? (kept as MessageFile[]) : []
  } catch {
    return []
  }
}
