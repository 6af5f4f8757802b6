import { FileText } from "../icons/things.ts"
import type { DocumentView } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { capitalized } from "../../src/client/index.ts"
import { count } from "../parts/words.ts"
import { client } from "../state/client.ts"

interface DocumentEntryProps {
  readonly document: DocumentView
  readonly onRemoved: () => Promise<unknown>
}

/** One document, and how far it is: found by its words at once, by its meaning when all of it is read in. */
export function DocumentEntry({ document, onRemoved }: DocumentEntryProps) {
  const { id, collectionId, title, source, date, status, reason, passages, embedded } = document
  const about = [title === source ? "" : source, date, status === "ready" ? count(passages, "passage") : ""]
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
            <Plain text={toSentence(reason ?? "it could not be read")} /> Send a better file of the same name: it takes
            this one’s place.
          </span>
        )}
        {status === "ingesting" && (
          <span className="mt-1 flex items-center gap-2 text-[13px] text-faint">
            <progress
              className="block h-1.5 w-full max-w-60"
              aria-label={`Reading in ${title}`}
              max={Math.max(passages, 1)}
              value={embedded}
            />
            {embedded.toLocaleString()} of {count(passages, "passage")}
          </span>
        )}
      </span>
      <Button small look="quiet" aria-label={`Remove ${title}`} onClick={() => void remove().then(onRemoved)}>
        Remove
      </Button>
    </li>
  )
}

const toSentence = (reason: string) => (/[.!?]$/.test(reason) ? capitalized(reason) : `${capitalized(reason)}.`)
