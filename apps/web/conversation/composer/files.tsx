import { type ReactNode, useEffect, useRef, useState } from "react"
import type { MessageFile } from "../../../../core/protocol/index.ts"
import { Paperclip } from "../../parts/icons.tsx"
import { IconButton } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { FileChip, usePicture } from "../../parts/file-chip.tsx"
import { type ChosenFile, addFiles, clearFiles, filesOf, removeFile, tryAgain } from "../../state/chosen-files.ts"
import { client } from "../../state/client.ts"
import { askAbout, messageZones } from "../../state/drop-zones.ts"
import { navigate } from "../../state/router.ts"
import { useStore } from "../../state/store.ts"
import { percent } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"
import { LibraryDialog } from "./library-dialog.tsx"

/** The files of the message that is being written. What is dropped where there is no other place for it is among them. */
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
  // The same bytes twice are the same file.
  const kept = new Map(items.flatMap((each) => (each.kept ? [[each.kept.id, each.kept]] : [])))
  return {
    ...{ draft, onDatabase, items, kept: [...kept.values()] },
    underWay: items.filter(({ state }) => state === "waiting" || state === "uploading").length,
    hasFailed: items.some(({ state }) => state === "failed"),
  }
}

/** They have gone with the message. */
export const clear = ({ draft }: ChosenFiles): void => clearFiles(draft)

/** What was chosen, above the words: how far it is, what is wrong with it, and a way to leave it out. */
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
  const picture = usePicture(kept, blob)
  const isUnderWay = state === "waiting" || state === "uploading"
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

/** The files of the message that is being written. */
export interface ChosenFiles {
  readonly draft: string
  /** Has what is being written ask a database. */
  readonly onDatabase: (connectionId: string) => void
  readonly items: readonly ChosenFile[]
  /** Those that the server has, in their order. */
  readonly kept: readonly MessageFile[]
  /** How many are still on their way. */
  readonly underWay: number
  readonly hasFailed: boolean
}

/** What else could be done with a file. */
interface Offer {
  readonly words: string
  readonly take: () => void
}

interface OffersFor {
  readonly draft: string
  /** Has what is being written ask a database. */
  readonly onDatabase: (connectionId: string) => void
}

const TABLE = /\.(csv|tsv)$/i
const PAPER = /\.(pdf|md|markdown|txt|html?|rtf)$/i

/** A table can be asked as a database, a paper be found again in the library: both know more of it than a message does. */
function useOffers({ draft, onDatabase }: OffersFor): {
  offerOf: (file: ChosenFile) => Offer | undefined
  dialog: ReactNode
} {
  const [shelved, setShelved] = useState<MessageFile>()
  /** In which collection a file is by now. */
  const [places, setPlaces] = useState<ReadonlyMap<string, string>>(new Map())
  /** Shows what would be made of it, here. What has become a database is asked, and does not go to the model as text. */
  const toAnalyst = ({ key, name, blob, kept }: ChosenFile) =>
    attempt(async () => {
      // Taken back with its words, so it is the server that has it.
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
    // From where it is uploaded it goes on to the library by itself.
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
