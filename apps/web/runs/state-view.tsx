import { useEffect, useState } from "react"
import type { RecordedEvent } from "../../../core/protocol/index.ts"
import { ArrowLeft, ArrowRight } from "../parts/icons.tsx"
import { IconButton } from "../parts/button.tsx"
import { Json } from "../parts/plain.tsx"
import { LoadProblem } from "../parts/use-loaded.tsx"
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

/** What was read lately. A row is never changed, and so neither is what the rows up to it come to. */
const known = new Map<string, Promise<FoldedState>>()
const MAX_KNOWN = 100

/** The state behind a row: folded by the server, which alone has the rows of the runs before, and the fold that it works with. */
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

/** The names of what is not as it was; where it stands says every row anew. */
const changedBetween = (before: FoldedState, after: FoldedState): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== "position" && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
