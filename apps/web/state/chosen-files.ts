import type { MessageFile, UploadedFile } from "../../../core/protocol/index.ts"
import { forgetting } from "./identity.ts"
import { Store } from "./store.ts"
import { toast } from "./toasts.ts"
import { UploadQueue, uploadFile } from "./upload-queue.ts"
import { t } from "../strings/strings.ts"

/** How many files one message may have. */
const MAX_FILES = 10

/** A file of a message that is being written. */
export interface ChosenFile {
  readonly key: number
  readonly name: string
  /** `waiting` for its turn to be uploaded. */
  readonly state: "waiting" | "uploading" | "there" | "failed"
  /** Between 0 and 1. */
  readonly done: number
  /** The file itself, where it was chosen on this page. */
  readonly blob?: File
  /** As the server has it. */
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

/** The files that go with what is written under a name, wherever its person goes on the page meanwhile, in their order. */
export function filesOf(draft: string): Store<Chosen> {
  const known = drafts.get(draft)
  if (known) return known
  const store = new Store<Chosen>(readKept(draft).map(toChosen))
  drafts.set(draft, store)
  return store
}

/** Adds files, each of which is uploaded as soon as it is its turn. */
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

/** Files that the server has already, of words that were taken back: nothing is uploaded anew. */
export function restoreFiles(draft: string, files: readonly MessageFile[]): void {
  const there = new Set(filesOf(draft).value.map(({ kept }) => kept?.id))
  addUpTo(draft, files.filter(({ id }) => !there.has(id)).map(toChosen))
}

/** Once more what was not taken. */
export function tryAgain(draft: string, key: number): void {
  const file = filesOf(draft).value.find((each) => each.key === key)
  if (file?.state === "failed") void upload(draft, file)
}

/** Leaves one out; where it is being uploaded that ends. */
export function removeFile(draft: string, key: number): void {
  set(
    draft,
    filesOf(draft).value.filter((each) => each.key !== key),
  )
  leaving.get(key)?.abort()
}

/** They have gone with their words, or are not wanted. */
export function clearFiles(draft: string): void {
  for (const { key } of filesOf(draft).value) removeFile(draft, key)
}

// Nothing of one person is left for the next who signs in here.
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

/** Nothing where it was left out meanwhile. */
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

/** Kept for this tab, like the words: a reload takes away only what had not arrived. */
function set(draft: string, files: Chosen): void {
  filesOf(draft).set(files)
  const kept = files.flatMap((each) => (each.kept ? [each.kept] : []))
  try {
    if (kept.length === 0) sessionStorage.removeItem(place(draft))
    else sessionStorage.setItem(place(draft), JSON.stringify(kept))
  } catch {
    // Storage is refused; then they last as long as the page.
  }
}

function readKept(draft: string): readonly MessageFile[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(place(draft)) ?? "[]")
    return Array.isArray(kept) ? (kept as MessageFile[]) : []
  } catch {
    return []
  }
}
