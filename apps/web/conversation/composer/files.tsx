import { type ReactNode, useEffect, useRef, useState } from "react"
import type { MessageFile } from "../../../../core/protocol/index.ts"
import { Paperclip } from "../../components/icons.tsx"
import { IconButton } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { FileChip, usePreview } from "../../components/file-chip.tsx"
import { type ChosenFile, addFiles, clearFiles, filesOf, removeFile, tryAgain } from "../../state/chosen-files.ts"
import { client } from "../../state/client.ts"
import { askAbout, messageZones } from "../../state/drop-zones.ts"
import { navigate } from "../../state/router.ts"
import { useStore } from "../../state/store.ts"
import { percent } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"
import { LibraryDialog } from "./library-dialog.tsx"

/** The files of the draft message. They include files dropped where no other drop zone is. */
export function useFiles(draft: string, onDatabase: (connectionId: string) => void): ChosenFiles {
  const items = useStore(filesOf(draft))
  const latest = useRef(onDatabase)
  useEffect(() => {
    latest.current = onDatabase
  })
  useEffect(() => {
    const zone = {
      take: (dropped: Iterable<File>) => addFiles(draft, dropped),
      onDatabase: (connectionId: string) => latest.current(connectionId),
    }
    messageZones.add(zone)
    return () => void messageZones.delete(zone)
  }, [draft])
  // Two files with the same bytes have the same id.
  const kept = new Map(items.flatMap((each) => (each.kept ? [[each.kept.id, each.kept]] : [])))
  return {
    ...{ draft, onDatabase, items, kept: [...kept.values()] },
    underWay: items.filter(({ state }) => state === "waiting" || state === "uploading").length,
    hasFailed: items.some(({ state }) => state === "failed"),
  }
}

/** The files were sent with the message. */
export const clear = ({ draft }: ChosenFiles): void => clearFiles(draft)

/** The chosen files above the text, each with progress or problem and a button to remove it. */
export function FileList({ files }: { readonly files: ChosenFiles }) {
  const { offerOf, dialog } = useOffers(files)
  if (files.items.length === 0) return null
  return (
    <>
      <ul aria-label={t("conversation.filesOfMessage")} className="flex flex-wrap gap-2 px-3 pt-3">
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
  const picture = usePreview(kept, blob)
  const isInProgress = state === "waiting" || state === "uploading"
  return (
    <FileChip
      name={name}
      {...picture}
      status={
        state === "waiting"
          ? t("conversation.fileQueued")
          : state === "uploading"
            ? t("conversation.fileUploading", { percent: percent(done) })
            : problem
      }
      {...(isInProgress ? { done } : {})}
      isWrong={state === "failed"}
      {...(state === "failed" ? { onRetry: () => tryAgain(draft, key) } : {})}
      onRemove={() => removeFile(draft, key)}
      {...(offer ? { offer } : {})}
    />
  )
}

/** Opens the file chooser. */
export function FileButton({ files }: { readonly files: ChosenFiles }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label={t("conversation.addFiles")} onClick={() => input.current?.click()}>
        <Paperclip className="size-4.5" />
      </IconButton>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={t("conversation.filesToAdd")}
        onChange={(event) => {
          addFiles(files.draft, [...(event.target.files ?? [])])
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </>
  )
}

/** The files of the draft message. */
export interface ChosenFiles {
  readonly draft: string
  /** Selects the database that the message is about. */
  readonly onDatabase: (connectionId: string) => void
  readonly items: readonly ChosenFile[]
  /** The uploaded ones, in order. */
  readonly kept: readonly MessageFile[]
  /** How many are being uploaded. */
  readonly underWay: number
  readonly hasFailed: boolean
}

/** Another action for a file. */
interface Offer {
  readonly words: string
  readonly take: () => void
}

interface OffersFor {
  readonly draft: string
  /** Selects the database that the message is about. */
  readonly onDatabase: (connectionId: string) => void
}

const TABLE = /\.(csv|tsv)$/i
const PAPER = /\.(pdf|md|markdown|txt|html?)$/i

/** A CSV can become a database, and a paper can be added to the library: both offer more than an attachment. */
function useOffers({ draft, onDatabase }: OffersFor): {
  offerOf: (file: ChosenFile) => Offer | undefined
  dialog: ReactNode
} {
  const [shelved, setShelved] = useState<MessageFile>()
  /** The collections that files were added to. */
  const [places, setPlaces] = useState<ReadonlyMap<string, string>>(new Map())
  /** Shows the preview. A file that became a database is not sent as text. */
  const toAnalyst = ({ key, name, blob, kept }: ChosenFile) =>
    attempt(async () => {
      // A file of a withdrawn message is only on the server.
      const file = blob ?? (kept && new File([await (await client.readFile({ params: { id: kept.id } })).blob()], name))
      if (!file) return
      askAbout([
        {
          file,
          attach: undefined,
          onDatabase(connectionId) {
            removeFile(draft, key)
            onDatabase(connectionId)
          },
        },
      ])
    })
  const offerOf = (file: ChosenFile): Offer | undefined => {
    const { kept } = file
    if (TABLE.test(file.name)) return { words: t("conversation.askAnalyst"), take: () => void toAnalyst(file) }
    // The library gets the uploaded file from the server.
    if (!kept || !PAPER.test(file.name)) return undefined
    const place = places.get(kept.id)
    if (place === undefined) return { words: t("conversation.addToLibrary"), take: () => setShelved(kept) }
    return { words: t("conversation.inLibrary", { collection: place }), take: () => navigate("/library") }
  }
  const dialog = shelved && (
    <LibraryDialog
      file={shelved}
      onClose={() => setShelved(undefined)}
      onDone={(collection) => {
        setPlaces(new Map([...places, [shelved.id, collection]]))
        setShelved(undefined)
      }}
    />
  )
  return { offerOf, dialog }
}
