import { useEffect, useState } from "react"
import type { RecordedEvent } from "../../src/protocol/index.ts"
import { ArrowLeft, ArrowRight } from "../icons/arrows.ts"
import { IconButton } from "../parts/button.tsx"
import { Json } from "../parts/json.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { noticeSignOut } from "../state/identity.ts"
import { changedBetween, type FoldedState, readStateAt } from "./state-at.ts"

interface StateViewProps {
  readonly conversationId: string
  readonly rows: readonly RecordedEvent[]
  readonly at: number
  readonly onMove: (position: number) => void
}

interface Shown {
  readonly at: number
  readonly state: FoldedState
  readonly changed: readonly string[]
}

/** How long somebody rests on a row before its state is asked for: whoever drags passes many. */
const REST_MS = 120

/** What the conversation was behind each row of a run, as the server's own fold says, and what the row has changed in it. */
export function StateView({ conversationId, rows, at, onMove }: StateViewProps) {
  const [shown, setShown] = useState<Shown>()
  const [problem, setProblem] = useState<unknown>()
  const [tries, setTries] = useState(0)
  const [first, last] = [rows[0]?.position ?? at, rows.at(-1)?.position ?? at]
  useEffect(() => {
    let isLeft = false
    const read = async () => {
      try {
        const [state, before] = await Promise.all([
          readStateAt(conversationId, at),
          readStateAt(conversationId, at - 1),
        ])
        if (isLeft) return
        setShown({ at, state, changed: changedBetween(before, state) })
        setProblem(undefined)
      } catch (error) {
        noticeSignOut(error)
        if (!isLeft) setProblem(error)
      }
    }
    const timer = setTimeout(() => void read(), REST_MS)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [conversationId, at, tries])
  const type = rows.find(({ position }) => position === at)?.type
  return (
    <section aria-label="State">
      <div className="mb-2 flex items-center gap-2">
        <IconButton label="One row back" disabled={at <= first} onClick={() => onMove(at - 1)}>
          <ArrowLeft className="size-4" />
        </IconButton>
        <input
          type="range"
          aria-label="Row"
          aria-valuetext={`Row ${at}${type ? `, ${type}` : ""}`}
          min={first}
          max={last}
          value={at}
          onChange={({ target }) => onMove(Number(target.value))}
          className="min-w-0 flex-1 accent-accent"
        />
        <IconButton label="One row on" disabled={at >= last} onClick={() => onMove(at + 1)}>
          <ArrowRight className="size-4" />
        </IconButton>
      </div>
      <p className="mb-2 text-sm text-soft">
        Behind row {at}
        {type && (
          <>
            {" · "}
            <code className="font-mono text-[13px]">{type}</code>
          </>
        )}
        {shown?.at === at && ` · ${changeWords(shown.changed)}`}
      </p>
      <Trouble problem={problem} onRetry={async () => setTries(tries + 1)} />
      {shown && problem === undefined && (
        <div aria-busy={shown.at !== at} className={shown.at === at ? "" : "opacity-60"}>
          <Json value={shown.state} tall />
        </div>
      )}
    </section>
  )
}

const changeWords = (changed: readonly string[]): string =>
  changed.length === 0 ? "changed nothing in it" : `changed ${changed.join(", ")}`
