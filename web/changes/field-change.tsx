import { diffWordsWithSpace } from "diff"
import { useMemo } from "react"
import { Plain } from "../parts/plain.tsx"
import type { FieldBlock } from "./blocks.ts"
import { isEmpty, toText } from "./value-words.ts"

/** Longer texts are shown one after the other: to compare books word by word would take too long. */
const MAX_COMPARED = 20_000

/** What becomes of one field. */
export function FieldChange({ block: { before, after, isGone } }: { readonly block: FieldBlock }) {
  if (isEmpty(before)) return <Text text={toText(after)} />
  // Where all of it goes a line through every word would say it too often.
  if (isEmpty(after)) return isGone ? <Text text={toText(before)} /> : <Removed text={toText(before)} />
  const [was, will] = [toText(before), toText(after)]
  const isText = typeof before === "string" && typeof after === "string" && /\s/.test(was + will)
  if (isText && was.length + will.length <= MAX_COMPARED) return <WordChange was={was} will={will} />
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <Removed text={was} />
      <span className="text-faint" aria-label="becomes" role="img">
        →
      </span>
      <Text text={will} />
    </span>
  )
}

function WordChange({ was, will }: { readonly was: string; readonly will: string }) {
  const parts = useMemo(() => diffWordsWithSpace(was, will), [was, will])
  return (
    <span className="whitespace-pre-wrap">
      {parts.map(({ value, added, removed }, index) =>
        added ? (
          <ins key={index} className="rounded bg-good-soft text-good no-underline">
            <Plain text={value} />
          </ins>
        ) : removed ? (
          <del key={index} className="rounded bg-danger-soft text-danger">
            <Plain text={value} />
          </del>
        ) : (
          <Plain key={index} text={value} />
        ),
      )}
    </span>
  )
}

const Text = ({ text }: { readonly text: string }) => (
  <span className="whitespace-pre-wrap">
    <Plain text={text} />
  </span>
)

const Removed = ({ text }: { readonly text: string }) => (
  <del className="whitespace-pre-wrap text-danger decoration-1">
    <Plain text={text} />
  </del>
)
