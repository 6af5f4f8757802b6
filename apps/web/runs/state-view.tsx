import { useEffect, useState } from "react"
import type { RecordedEvent } from "../../../core/protocol/index.ts"
import { ArrowLeft, ArrowRight } from "../components/icons.tsx"
import { IconButton } from "../components/button.tsx"
import { Json } from "../components/plain.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { t } from "../strings/strings.ts"

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

/** How long the slider must rest before a state is requested: dragging passes many rows. */
const REST_MS = 120

/** The state of the conversation after each row, as the server computes it, and what the row changed. */
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
    <div role="group" aria-label={t("runs.state")}>
      <div className="mb-2 flex items-center gap-2">
        <IconButton label={t("runs.previousRow")} disabled={at <= first} onClick={() => onMove(at - 1)}>
          <ArrowLeft className="size-4" />
        </IconButton>
        <input
          type="range"
          aria-label={t("runs.rowOnly")}
          aria-valuetext={type ? t("runs.rowOfType", { number: at, type }) : t("runs.row", { number: at })}
          min={first}
          max={last}
          value={at}
          onChange={({ target }) => onMove(Number(target.value))}
          className="min-w-0 flex-1 accent-accent"
        />
        <IconButton label={t("runs.nextRow")} disabled={at >= last} onClick={() => onMove(at + 1)}>
          <ArrowRight className="size-4" />
        </IconButton>
      </div>
      <p className="mb-2 text-sm text-soft">
        {t("runs.afterRow", { number: at })}
        {type && (
          <>
            {" · "}
            <code className="font-mono text-[13px]">{type}</code>
          </>
        )}
        {shown?.at === at && ` · ${changeWords(shown.changed)}`}
      </p>
      <LoadProblem problem={problem} onRetry={async () => setTries(tries + 1)} />
      {shown && problem === undefined && (
        <div aria-busy={shown.at !== at} className={shown.at === at ? "" : "opacity-60"}>
          <Json value={shown.state} tall />
        </div>
      )}
    </div>
  )
}

const changeWords = (changed: readonly string[]): string =>
  changed.length === 0 ? t("runs.unchanged") : t("runs.changed", { fields: changed.join(", ") })

type FoldedState = Readonly<Record<string, unknown>>

/** Cache. Rows never change, so neither does the state after a row. */
const known = new Map<string, Promise<FoldedState>>()
const MAX_KNOWN = 100

/** The state after a row. Computed on the server, which has the rows of earlier runs. */
function readStateAt(conversationId: string, at: number): Promise<FoldedState> {
  if (at < 1) return Promise.resolve({})
  const key = `${conversationId} ${at}`
  const found = known.get(key)
  if (found) return found
  const reading = client.readState({ params: { id: conversationId }, query: { at } })
  known.set(key, reading)
  reading.catch(() => known.delete(key))
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return reading
}

/** The names of the fields that changed. The position changes with each row and is left out. */
const changedBetween = (before: FoldedState, after: FoldedState): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== "position" && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
