import { useState } from "react"
import type { RunTimeline, TimelineEntry, TimelineKind } from "../../../client/index.ts"
import type { RecordedEvent } from "../../../core/protocol/index.ts"
import {
  Archive,
  Bot,
  CircleAlert,
  CircleDot,
  Flag,
  Hourglass,
  type Icon,
  PenLine,
  Play,
  Plug,
  Route,
} from "../components/icons.tsx"
import { Button, CopyButton } from "../components/button.tsx"
import { Json, JsonText, Plain } from "../components/plain.tsx"
import { duration } from "../strings/format.ts"
import { t } from "../strings/strings.ts"
import { describeUsage } from "./describe-run.ts"

const SIGNS: Readonly<Record<TimelineKind, readonly [sign: Icon, color: string, bar: string]>> = {
  words: [PenLine, "text-soft", "bg-soft"],
  model: [Bot, "text-accent", "bg-accent"],
  stage: [Route, "text-soft", "bg-soft"],
  call: [Plug, "text-good", "bg-good"],
  wait: [Hourglass, "text-warn", "bg-warn"],
  trouble: [CircleAlert, "text-danger", "bg-danger"],
  room: [Archive, "text-soft", "bg-soft"],
  other: [CircleDot, "text-faint", "bg-faint"],
  end: [Flag, "text-ink", "bg-ink"],
}

interface EntryRowProps {
  readonly entry: TimelineEntry
  readonly text: { readonly title: string; readonly detail?: string | undefined }
  readonly timeline: RunTimeline
  readonly rows: readonly RecordedEvent[]
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly onState: ((position: number) => void) | undefined
}

/** A timeline entry; it opens to show its first and last rows. */
export function EntryRow({ entry, text, timeline, rows, isOpen, onToggle, onState }: EntryRowProps) {
  const { position, endPosition, kind, at, usage } = entry
  const { title, detail } = text
  const hasFailed = kind === "end" && rows.some((row) => row.position === position && row.status === "failed")
  const isTrouble = kind === "trouble" || hasFailed
  const [Sign, color] = kind === "other" && position === timeline.entries[0]?.position ? START : SIGNS[kind]
  const used = usage ? describeUsage(usage) : ""
  const took = tookWords(entry)
  const given = isOpen && kind === "call" ? argumentsOf(rows, position) : undefined
  const shown = rows.filter((row) => row.position === position || row.position === endPosition)
  return (
    <li className="border-b border-line last:border-b-0">
      <button
        type="button"
        data-line
        aria-expanded={isOpen}
        onClick={onToggle}
        className="grid w-full grid-cols-[1.25rem_minmax(0,1fr)_auto] items-start gap-x-2.5 rounded-lg px-2 py-1.5 text-left text-sm hover:bg-sunken @2xl:grid-cols-[1.25rem_minmax(0,1fr)_14rem_5.5rem]"
      >
        <Sign className={`mt-[3px] size-4 ${hasFailed ? "text-danger" : color}`} />
        <span className="min-w-0">
          <span className={`block [overflow-wrap:anywhere] ${isTrouble ? "text-danger" : ""}`}>
            <Plain text={title} />
          </span>
          {detail && (
            <span className={`block text-[13px] text-soft ${isOpen ? "[overflow-wrap:anywhere]" : "truncate"}`}>
              <Plain text={detail} />
            </span>
          )}
          {used && <span className="block text-[13px] text-faint">{used}</span>}
        </span>
        <Bar entry={entry} timeline={timeline} />
        <span className="text-right text-[13px] leading-snug whitespace-nowrap tabular-nums">
          {took && <span className="block pt-[3px] text-soft">{took}</span>}
          <span className={`block text-faint ${took ? "" : "pt-[3px]"}`}>+{duration(at - timeline.startedAt)}</span>
        </span>
      </button>
      {isOpen && (
        <div className="space-y-3 px-2 pt-1 pb-3 @2xl:pl-9">
          {given !== undefined && (
            <div role="group" aria-label={t("runs.arguments")}>
              <p className="mb-1 text-[13px] text-soft">{t("runs.arguments")}</p>
              <Json value={given} />
            </div>
          )}
          {shown.map((row) => (
            <RawRow key={row.position} row={row} onState={onState} />
          ))}
        </div>
      )}
    </li>
  )
}

/** The arguments of the call that a row is about: they are in the reply, in an earlier row. */
function argumentsOf(rows: readonly RecordedEvent[], position: number): unknown {
  const callId = rows.find((row) => row.position === position)?.callId
  const parts = rows.flatMap(({ parts: some }) =>
    Array.isArray(some) ? (some as { id?: unknown; input?: unknown }[]) : [],
  )
  return callId === undefined ? undefined : parts.find(({ id }) => id === callId)?.input
}

const START = [Play, "text-faint"] as const

const tookWords = ({ ms, isOpen }: TimelineEntry): string =>
  isOpen ? t("runs.running") : ms === undefined ? "" : duration(ms)

/** When the entry happened within the run: the whole width is the whole run. Below the text on a phone. */
function Bar({
  entry: { at, ms = 0, kind, isOpen },
  timeline: { startedAt, until },
}: Pick<EntryRowProps, "entry" | "timeline">) {
  const all = Math.max(1, until - startedAt)
  const from = Math.min(100, Math.max(0, ((at - startedAt) / all) * 100))
  const width = isOpen ? 100 - from : Math.min(100 - from, (ms / all) * 100)
  return (
    <span
      aria-hidden
      className="relative order-last col-start-2 col-end-4 mt-1.5 mb-1 h-1.5 rounded-full bg-line/70 @2xl:order-none @2xl:col-auto @2xl:mt-[9px]"
    >
      <span
        className={`absolute inset-y-0 min-w-[3px] rounded-full ${SIGNS[kind][2]} ${isOpen ? "opacity-40" : ""}`}
        style={{ left: `min(${from}%, calc(100% - 3px))`, width: `${width}%` }}
      />
    </span>
  )
}

/** Longer rows are cut, because drawing them is slow. */
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
    <div role="group" aria-label={t("runs.row", { number: position })}>
      <div className="mb-1 flex items-center gap-2 text-[13px] text-soft">
        <span className="min-w-0 flex-1 truncate">
          {t("runs.row", { number: position })} · <code className="font-mono">{type}</code>
        </span>
        {onState && (
          <Button small look="quiet" onClick={() => onState(position)}>
            {t("runs.showState")}
          </Button>
        )}
        <CopyButton label={t("runs.copyRow", { number: position })} read={() => text} />
      </div>
      {isCut ? <JsonText text={`${text.slice(0, MAX_CHARACTERS)}…`} /> : <Json value={row} />}
      {isCut && (
        <Button small look="quiet" onClick={() => setWhole(true)}>
          {t("runs.showAllCharacters", { count: text.length })}
        </Button>
      )}
    </div>
  )
}
