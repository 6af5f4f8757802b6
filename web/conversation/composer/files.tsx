import { useEffect, useRef, useState } from "react"
import { Paperclip } from "../../icons/things.ts"
import { IconButton } from "../../parts/button.tsx"
import { FileChip, type PixelSize } from "../../parts/file-chip.tsx"
import { bring, messageZones } from "../../state/drop-zones.ts"
import { navigate } from "../../state/router.ts"
import { uploadFile } from "../../state/uploads.ts"

const MAX_FILES = 10

interface ChosenFile {
  readonly key: number
  readonly file: File
  readonly done: number
  readonly id?: string
  /** Of an image that the server has. */
  readonly pixels?: PixelSize
  readonly problem?: string
  readonly gone: AbortController
}

export interface ChosenFiles {
  readonly items: readonly ChosenFile[]
  /** Of those that the server has. */
  readonly ids: readonly string[]
  readonly isBusy: boolean
  readonly add: (files: Iterable<File>) => void
  readonly remove: (key: number) => void
  readonly clear: () => void
}

let last = 0

/** The files of the message that is being written: each is uploaded as soon as it is chosen. */
export function useFiles(): ChosenFiles {
  const [items, setItems] = useState<readonly ChosenFile[]>([])
  const change = (key: number, changes: Partial<ChosenFile>) =>
    setItems((all) => all.map((each) => (each.key === key ? { ...each, ...changes } : each)))
  const add = (files: Iterable<File>) => {
    const room = [...files].slice(0, MAX_FILES - items.length)
    const chosen = room.map((file): ChosenFile => ({ key: ++last, file, done: 0, gone: new AbortController() }))
    setItems((all) => [...all, ...chosen])
    for (const { key, file, gone } of chosen) {
      uploadFile(file, { signal: gone.signal, onProgress: (done) => change(key, { done }) }).then(
        ({ id, width, height }) =>
          change(key, { id, done: 1, ...(width && height ? { pixels: { width, height } } : {}) }),
        (error: unknown) => change(key, { problem: (error as Error).message }),
      )
    }
  }
  const remove = (key: number) => {
    items.find((each) => each.key === key)?.gone.abort()
    setItems((all) => all.filter((each) => each.key !== key))
  }
  const latest = useRef(add)
  useEffect(() => {
    latest.current = add
  })
  useEffect(() => {
    const zone = { take: (dropped: globalThis.FileList) => latest.current(dropped) }
    messageZones.add(zone)
    return () => void messageZones.delete(zone)
  }, [])
  const ids = [...new Set(items.flatMap(({ id }) => (id === undefined ? [] : [id])))]
  const isBusy = items.some(({ id, problem }) => id === undefined && problem === undefined)
  return { items, ids, isBusy, add, remove, clear: () => setItems([]) }
}

/** What was chosen, above the words: how far it is, what is wrong with it, and a way to leave it out. */
export function FileList({ files }: { readonly files: ChosenFiles }) {
  if (files.items.length === 0) return null
  return (
    <ul aria-label="Files of this message" className="flex flex-wrap gap-2 px-3 pt-3">
      {files.items.map(({ key, file, done, id, pixels, problem }) => (
        <li key={key}>
          <FileChip
            name={file.name}
            blob={file}
            pixels={pixels}
            status={problem ?? (id === undefined ? `Uploading, ${Math.round(done * 100)} %` : undefined)}
            isWrong={problem !== undefined}
            onRemove={() => files.remove(key)}
            {...offerOf(file)}
          />
        </li>
      ))}
    </ul>
  )
}

/** A table can be asked as a database, a paper be found again in the library: both know more of it than a message does. */
function offerOf(file: File): { offer?: { words: string; take: () => void } } {
  if (/\.(csv|tsv)$/i.test(file.name)) {
    const take = () => {
      bring(file)
      navigate("/settings/connections")
    }
    return { offer: { words: "Ask the analyst about it", take } }
  }
  if (!/\.pdf$/i.test(file.name)) return {}
  return { offer: { words: "Papers are found again in the library", take: () => navigate("/library") } }
}

/** Opens the window in which files are chosen. */
export function FileButton({ files }: { readonly files: ChosenFiles }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label="Add files: images, PDFs, text" onClick={() => input.current?.click()}>
        <Paperclip className="size-4.5" />
      </IconButton>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label="Files to add"
        onChange={(event) => {
          files.add([...(event.target.files ?? [])])
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </>
  )
}
