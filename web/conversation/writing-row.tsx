import { useDeferredValue } from "react"
import type { Transcript } from "../../src/client/index.ts"
import { Markdown } from "./markdown.tsx"

/** The reply that is being written, or that somebody is thinking. */
export function WritingRow({ transcript: { writing } }: { readonly transcript: Transcript }) {
  // What a person types goes first: text that comes may be drawn a picture later.
  const text = useDeferredValue(writing)
  return (
    <div className="py-2.5" data-testid="writing">
      {text ? (
        <Markdown text={text} isOpen />
      ) : (
        <p className="flex items-center gap-2.5 text-sm text-soft">
          <span className="pulse size-2 rounded-full bg-accent" /> At work …
        </p>
      )}
    </div>
  )
}
