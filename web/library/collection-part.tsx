import { useState } from "react"
import type { CollectionView } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { Things } from "../parts/part.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"
import { client } from "../state/client.ts"
import { DocumentEntry } from "./document-entry.tsx"
import { DropFiles } from "./drop-files.tsx"
import { IngestBar } from "./ingest-bar.tsx"
import { useIngests } from "./use-ingests.ts"

interface CollectionPartProps {
  readonly collection: CollectionView
  readonly onChange: () => Promise<void>
}

const SHOWN = 50

/** One collection: its documents, how far each is, and a place to drop more. */
export function CollectionPart({
  collection: { id, name, documents, passages, progress },
  onChange,
}: CollectionPartProps) {
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
        <span className="text-[13px] text-faint">
          {count(documents, "document")}, {count(passages, "passage")}
        </span>
        <Button small look="quiet" onClick={() => setLeaving(true)}>
          Delete
        </Button>
      </div>
      {progress && <IngestBar name={name} progress={progress} />}
      {trouble}
      {value?.items.length === 0 && (
        <p className="text-sm text-soft">
          Nothing is in it yet. What you drop here is found by its words at once, and by its meaning when it is read in.
        </p>
      )}
      {value && value.items.length > 0 && (
        <Things>
          {value.items.map((document) => (
            <DocumentEntry key={document.id} document={document} onRemoved={changed} />
          ))}
        </Things>
      )}
      {value?.nextCursor != null && <p className="mt-1 text-[13px] text-faint">The newest {SHOWN} are shown.</p>}
      <DropFiles collection={id} onAdded={changed} />
      {isLeaving && (
        <Confirm
          title="Delete this collection?"
          says={
            <>
              “<Plain text={name} />” and its {count(documents, "document")} will be gone. Answers that cite them keep
              the passages they quote.
            </>
          }
          act="Delete"
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
