import { useState } from "react"
import type { RecordedEvent } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { CopyButton } from "../parts/copy-button.tsx"
import { Json, JsonText } from "../parts/json.tsx"
import { count } from "../parts/words.ts"

/** Beyond this, drawing a row costs more than most people want to see of it. */
const MAX_CHARACTERS = 20_000

interface RawRowProps {
  readonly row: RecordedEvent
  readonly onState?: ((position: number) => void) | undefined
}

/** A row of the journal as it was recorded. */
export function RawRow({ row, onState }: RawRowProps) {
  const [isWhole, setWhole] = useState(false)
  const { position, type } = row
  const text = JSON.stringify(row, undefined, 2)
  const isCut = !isWhole && text.length > MAX_CHARACTERS
  return (
    <section aria-label={`Row ${position}`}>
      <div className="mb-1 flex items-center gap-2 text-[13px] text-soft">
        <span className="min-w-0 flex-1 truncate">
          Row {position} · <code className="font-mono">{type}</code>
        </span>
        {onState && (
          <Button small look="quiet" onClick={() => onState(position)}>
            State behind it
          </Button>
        )}
        <CopyButton what={`row ${position}`} read={() => text} />
      </div>
      {isCut ? <JsonText text={`${text.slice(0, MAX_CHARACTERS)}…`} /> : <Json value={row} />}
      {isCut && (
        <Button small look="quiet" onClick={() => setWhole(true)}>
          Show all {count(text.length, "character")}
        </Button>
      )}
    </section>
  )
}
