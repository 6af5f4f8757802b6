import { useEffect, useRef, useState } from "react"
import { capitalized, isFrame, readPages } from "../../../client/index.ts"
import type { CollectionView, DocumentView, IngestProgress } from "../../../core/protocol/index.ts"
import { FileText } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, OnlyField, SubmitButton } from "../components/form.tsx"
import { Section, ItemList } from "../components/section.tsx"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { TextPage } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { listeners } from "../state/feed.ts"
import { formatEstimate, time } from "../strings/format.ts"
import { t } from "../strings/strings.ts"
import { DropFiles } from "./drop-files.tsx"

/** The user's collections of documents, which the research agent searches. */
export function LibraryPage() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listCollections({ query })))
  return (
    <TextPage title={t("shell.library")}>
      {trouble}
      {value?.length === 0 && (
        <div className="pt-[8vh] pb-8 text-center">
          <h2 className="mb-2 font-serif text-2xl">{t("library.none")}</h2>
          <p className="text-soft">{t("library.noneHint")}</p>
        </div>
      )}
      {value?.map((collection) => (
        <CollectionPart key={collection.id} collection={collection} onChange={reload} />
      ))}
      <NewCollection onDone={reload} />
    </TextPage>
  )
}

function NewCollection({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [name, setName] = useState("")
  const make = async () => {
    await client.createCollection({ body: { name } })
    setName("")
    await onDone()
  }
  return (
    <Section title={t("library.newCollection")}>
      <Form className="flex flex-wrap gap-2" onSubmit={make}>
        <OnlyField>
          <input
            className="field min-w-48 flex-1"
            aria-label={t("library.collectionName")}
            placeholder={t("library.collectionNameExample")}
            value={name}
            maxLength={200}
            required
            onChange={(event) => setName(event.target.value)}
          />
        </OnlyField>
        <SubmitButton>{t("library.create")}</SubmitButton>
      </Form>
    </Section>
  )
}

interface CollectionPartProps {
  readonly collection: CollectionView
  readonly onChange: () => Promise<void>
}

const SHOWN = 50

/** One collection: its documents, their progress, and a place to drop more. */
function CollectionPart({ collection: { id, name, documents, passages, progress }, onChange }: CollectionPartProps) {
  const [isLeaving, setLeaving] = useState(false)
  const params = { id }
  const { value, reload, trouble } = useLoaded(() => client.listDocuments({ params, query: { limit: SHOWN } }))
  const isBusy = progress !== undefined || value?.items.some(({ status }) => status === "ingesting") === true
  const changed = () => Promise.all([reload(), onChange()])
  useIngests(isBusy, changed)
  return (
    <section aria-label={name} className="mb-8">
      <div className="mb-2 flex items-baseline gap-3">
        <h2 className="min-w-0 flex-1 font-serif text-xl [overflow-wrap:anywhere]">
          <Plain text={name} />
        </h2>
        <span className="text-[13px] text-faint">{t("library.counts", { documents, passages })}</span>
        <Button small look="quiet" onClick={() => setLeaving(true)}>
          {t("common.delete")}
        </Button>
      </div>
      {progress && <IngestBar name={name} progress={progress} />}
      {trouble}
      {value?.items.length === 0 && <p className="text-sm text-soft">{t("library.empty")}</p>}
      {value && value.items.length > 0 && (
        <ItemList>
          {value.items.map((document) => (
            <DocumentEntry key={document.id} document={document} onRemoved={changed} />
          ))}
        </ItemList>
      )}
      {value?.nextCursor != null && (
        <p className="mt-1 text-[13px] text-faint">{t("library.newest", { count: SHOWN })}</p>
      )}
      <DropFiles collection={id} onAdded={changed} />
      {isLeaving && (
        <Confirm
          title={t("library.deleteTitle")}
          name={name}
          says={t("library.deleteHint", { count: documents })}
          act={t("common.delete")}
          onClose={() => setLeaving(false)}
          onAct={() => {
            setLeaving(false)
            void attempt(() => client.removeCollection({ params })).then(onChange)
          }}
        />
      )}
    </section>
  )
}

interface DocumentEntryProps {
  readonly document: DocumentView
  readonly onRemoved: () => Promise<unknown>
}

/** One document and its progress: it is found by keyword at once, and by meaning once it is indexed. */
function DocumentEntry({ document, onRemoved }: DocumentEntryProps) {
  const { id, collectionId, title, source, date, status, reason, passages, embedded } = document
  const about = [
    title === source ? "" : source,
    date,
    status === "ready" ? t("library.passages", { count: passages }) : "",
  ]
  const remove = () => attempt(() => client.removeDocument({ params: { id: collectionId, documentId: id } }))
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3.5 py-2">
      <FileText className="mr-1 size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-48 flex-1 [overflow-wrap:anywhere]">
        <Plain text={title} />
        <span className="block text-[13px] text-faint">
          <Plain text={about.filter(Boolean).join(" · ")} />
        </span>
        {status === "failed" && (
          <span className="block text-[13px] text-danger">
            <span className="block">
              <Plain text={reason === null ? t("library.failed") : toSentence(reason)} />
            </span>
            {t("library.failedHint")}
          </span>
        )}
        {status === "ingesting" && (
          <span className="mt-1 flex items-center gap-2 text-[13px] text-faint">
            <progress
              className="block h-1.5 w-full max-w-60"
              aria-label={t("library.indexing", { name: title })}
              max={Math.max(passages, 1)}
              value={embedded}
            />
            {t("library.indexed", { embedded, passages })}
          </span>
        )}
      </span>
      <Button
        small
        look="quiet"
        aria-label={t("common.removeFile", { name: title })}
        onClick={() => void remove().then(onRemoved)}
      >
        {t("common.remove")}
      </Button>
    </li>
  )
}

const toSentence = (reason: string) => (/[.!?]$/.test(reason) ? capitalized(reason) : `${capitalized(reason)}.`)

interface IngestBarProps {
  /** The name of the collection. */
  readonly name: string
  readonly progress: IngestProgress
}

/** The progress of indexing a collection, the time left if known, and the problem if it is stuck. */
function IngestBar({ name, progress }: IngestBarProps) {
  const { documents, embedded, passages, secondsLeft, problem, retryAt } = progress
  const left =
    secondsLeft === undefined
      ? t("library.timeLeftUnknown")
      : t("library.timeLeft", { time: formatEstimate(secondsLeft) })
  return (
    <div className="mb-3 rounded-xl bg-sunken px-4 py-3 text-sm">
      <progress
        className="block h-1.5 w-full"
        aria-label={t("library.indexing", { name })}
        max={Math.max(passages, 1)}
        value={embedded}
      />
      <p className="mt-2">
        {t("library.indexed", { embedded, passages })}
        {problem === undefined && ` · ${left}`}
      </p>
      {problem !== undefined && (
        <p role="alert" className="mt-1 text-danger">
          <Plain text={problem} />
          {retryAt !== undefined && <> {t("library.retryAt", { time: time(retryAt) })}</>}
        </p>
      )}
      <p className="mt-1 text-[13px] text-faint">{t("library.indexingHint", { count: documents })}</p>
    </div>
  )
}

/** Poll interval while documents are being indexed: work that another process started sends no events. */
const POLL_MS = 5000

/** Calls `look` on events about documents, and now and then while some are not ready. */
function useIngests(isBusy: boolean, look: () => Promise<unknown>): void {
  const latest = useRef(look)
  useEffect(() => {
    latest.current = look
  })
  useEffect(() => {
    const onFrame = (frame: Parameters<typeof isFrame>[0]) => {
      if (isFrame(frame, "ingest")) void latest.current()
    }
    listeners.add(onFrame)
    return () => void listeners.delete(onFrame)
  }, [])
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(() => void latest.current(), POLL_MS)
    return () => clearInterval(timer)
  }, [isBusy])
}
