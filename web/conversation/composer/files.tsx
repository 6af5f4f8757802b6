import { useEffect, useRef } from "react"
import type { MessageFile } from "../../../src/protocol/index.ts"
import { Paperclip } from "../../icons/things.ts"
import { IconButton } from "../../parts/button.tsx"
import { FileChip } from "../../parts/file-chip.tsx"
import { usePicture } from "../../parts/use-picture.ts"
import { addFiles, type ChosenFile, clearFiles, filesOf, removeFile, tryAgain } from "../../state/chosen-files.ts"
import { messageZones } from "../../state/drop-zones.ts"
import { useStore } from "../../state/store.ts"
import { type Offer, useOffers } from "./file-offers.tsx"

export interface ChosenFiles {
  readonly draft: string
  readonly items: readonly ChosenFile[]
  /** Those that the server has, in their order. */
  readonly kept: readonly MessageFile[]
  /** How many are still on their way. */
  readonly underWay: number
  readonly hasFailed: boolean
}

/** The files of the message that is being written. What is dropped where there is no other place for it is among them. */
export function useFiles(draft: string): ChosenFiles {
  const items = useStore(filesOf(draft))
  useEffect(() => {
    const zone = { take: (dropped: globalThis.FileList) => addFiles(draft, dropped) }
    messageZones.add(zone)
    return () => void messageZones.delete(zone)
  }, [draft])
  // The same bytes twice are the same file.
  const kept = new Map(items.flatMap((each) => (each.kept ? [[each.kept.id, each.kept]] : [])))
  return {
    ...{ draft, items, kept: [...kept.values()] },
    underWay: items.filter(({ state }) => state === "waiting" || state === "uploading").length,
    hasFailed: items.some(({ state }) => state === "failed"),
  }
}

/** They have gone with the message. */
export const clear = ({ draft }: ChosenFiles): void => clearFiles(draft)

/** What was chosen, above the words: how far it is, what is wrong with it, and a way to leave it out. */
export function FileList({ files }: { readonly files: ChosenFiles }) {
  const { offerOf, dialog } = useOffers()
  if (files.items.length === 0) return null
  return (
    <>
      <ul aria-label="Files of this message" className="flex flex-wrap gap-2 px-3 pt-3">
        {files.items.map((file) => (
          <li key={file.key}>
            <Chip file={file} draft={files.draft} offer={offerOf(file)} />
          </li>
        ))}
      </ul>
      {dialog}
    </>
  )
}

interface ChipProps {
  readonly file: ChosenFile
  readonly draft: string
  readonly offer: Offer | undefined
}

function Chip({ file: { key, name, state, done, blob, kept, problem }, draft, offer }: ChipProps) {
  const picture = usePicture(kept, blob)
  const far = { waiting: "Waits for its turn", uploading: `Uploading, ${Math.round(done * 100)} %` }
  const isUnderWay = state === "waiting" || state === "uploading"
  return (
    <FileChip
      name={name}
      {...picture}
      status={isUnderWay ? far[state] : problem}
      {...(isUnderWay ? { done } : {})}
      isWrong={state === "failed"}
      {...(state === "failed" ? { onRetry: () => tryAgain(draft, key) } : {})}
      onRemove={() => removeFile(draft, key)}
      {...(offer ? { offer } : {})}
    />
  )
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
          addFiles(files.draft, [...(event.target.files ?? [])])
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </>
  )
}
