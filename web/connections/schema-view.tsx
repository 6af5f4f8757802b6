import { RotateCw } from "../icons/arrows.ts"
import { useState } from "react"
import { Markdown } from "../markdown/markdown.tsx"
import { Button } from "../parts/button.tsx"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { count, time } from "../parts/words.ts"
import { useLoaded } from "../parts/use-loaded.tsx"
import { client } from "../state/client.ts"

/** What is in a database, as an assistant is told it. */
export function SchemaView({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState(0)
  return <Schema key={asked} id={id} isAgain={asked > 0} onAgain={() => setAsked(asked + 1)} />
}

interface SchemaProps {
  readonly id: string
  /** Asks the database once more, in place of what the server remembers. */
  readonly isAgain: boolean
  readonly onAgain: () => void
}

function Schema({ id, isAgain, onAgain }: SchemaProps) {
  const { value, trouble } = useLoaded(() =>
    client.readSchema({ params: { id }, query: isAgain ? { refresh: "true" } : {} }),
  )
  return (
    <section aria-label="Tables" className="w-full min-w-0 pb-1">
      {trouble}
      {!value && !trouble && <p className="py-1 text-[13px] text-faint">Looking …</p>}
      {value && (
        <>
          <div className="mb-1 flex items-center gap-2 text-[13px] text-faint">
            <p className="flex-1">
              {count(value.tables, "table")}
              {value.shown < value.tables && `, ${value.shown} of them in full`}, read {time(value.readAt)}
            </p>
            <Button small look="quiet" onClick={onAgain}>
              <RotateCw className="size-3.5" /> Read again
            </Button>
          </div>
          <div
            tabIndex={0}
            role="group"
            aria-label="Tables and columns"
            className="max-h-96 overflow-auto rounded-xl border border-line px-4 py-2 text-[13px]"
          >
            {/* Written by us, whatever letters its names have. */}
            <Markdown dir="ltr" text={escapeHidden(value.markdown)} />
          </div>
        </>
      )}
    </section>
  )
}
