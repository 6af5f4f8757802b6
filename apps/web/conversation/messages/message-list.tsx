import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useEffect, useMemo, useRef, useState } from "react"
import { type NoticeItem, type Transcript, type UnknownItem, olderThan } from "../../../../client/index.ts"
import { ArrowDown, ChevronRight, Info } from "../../components/icons.tsx"
import { Markdown } from "../../markdown/markdown.tsx"
import { ErrorBoundary } from "../../components/use-loaded.tsx"
import { Json, Plain } from "../../components/plain.tsx"
import { ProposalCard } from "../../proposal/proposal-card.tsx"
import type { ConversationState, OpenConversation } from "../../state/conversation.ts"
import { type Sending, outbox } from "../../state/outbox.ts"
import { useStore } from "../../state/store.ts"
import { rich, t } from "../../strings/strings.ts"
import { describeNotice, describeSummary, summaryLists } from "./describe-reply.ts"
import { LastRun } from "./last-run.tsx"
import { type Row, isSameRow, toRows, useUndelivered } from "./to-rows.ts"
import { ReplyRow } from "./reply-row.tsx"
import { SendingRow } from "./sending-row.tsx"
import { UserRow } from "./user-row.tsx"
import { WorkRow } from "./work-row.tsx"

interface MessageListProps {
  readonly conversation: OpenConversation
  readonly state: ConversationState
}

/** Within this distance from the end, the list follows new content. */
const NEAR_END = 80
/** At this distance from the start, older messages are loaded. */
const NEAR_START = 600

/**
 * The loaded messages of a conversation, virtualized. It stays at the end while content is added, unless the person has
 * scrolled up.
 */
export function MessageList({ conversation, state }: MessageListProps) {
  const { transcript, phase } = state
  const all = useStore(outbox)
  const mine = useMemo(() => all.filter((each) => each.conversationId === conversation.id), [all, conversation.id])
  const sending = useUndelivered(mine, transcript.items)
  const scroller = useRef<HTMLDivElement>(null)
  const done = useMemo(() => toRows(transcript.items), [transcript.items])
  const isWriting = transcript.writing !== null || transcript.status === "running"
  const writingKey = useWritingKey(transcript)
  const doing = transcript.isSummingUp ? { doing: t("conversation.summarizingEarlier") } : {}
  // After the items: unsent messages, the streaming reply, and how the last run ended.
  const rows: readonly Row[] = isWriting
    ? [
        ...done,
        {
          ...{ type: "reply", key: writingKey.next, text: transcript.writing ?? "", isLast: false },
          ...doing,
          thinking: transcript.thinking ?? undefined,
        },
      ]
    : done
  // While the person works in the list, for example on SQL, it does not scroll.
  const [isIn, setIn] = useState(false)
  const isHeld = isIn && (!isWriting || isWritten(document.activeElement)) && isWithin(scroller.current)
  const tail = [...sending.map(({ key }) => key), ...(transcript.status !== "running" ? ["last-run"] : [])]
  const keyOf = (row: Row) => (row.type === "reply" ? (writingKey.of.get(row.key) ?? row.key) : row.key)
  const virtualizer = useVirtualizer({
    count: rows.length + tail.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 120,
    getItemKey: (index) => (rows[index] ? keyOf(rows[index]) : (tail[index - rows.length] ?? index)),
    overscan: 6,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: isHeld ? -1 : NEAR_END,
    paddingStart: 16,
    paddingEnd: 12,
  })

  const isShown = phase === "open" && rows.length + tail.length > 0
  useEffect(() => {
    if (isShown) virtualizer.scrollToEnd()
  }, [isShown, virtualizer])

  const [isAway, setAway] = useState(false)
  const held = useRef(isHeld)
  held.current = isHeld
  // A person who sends a message is scrolled to it.
  const newest = sending.at(-1)?.key
  useEffect(() => {
    if (newest === undefined) return
    // A click on a suggestion focuses the list, which would stop it from following.
    held.current = false
    setIn(false)
    setAway(false)
  }, [newest])
  const height = virtualizer.getTotalSize()
  useEffect(() => {
    const element = scroller.current
    if (held.current && element) {
      // Ends a scroll that is still in progress.
      virtualizer.scrollToOffset(element.scrollTop)
      setAway(distanceFromEnd(element) > NEAR_END * 2)
    } else if (isShown && !isAway && height > 0) virtualizer.scrollToEnd()
  }, [isShown, isAway, height, virtualizer])

  const onScroll = () => {
    const element = scroller.current
    if (!element) return
    setAway(distanceFromEnd(element) > NEAR_END * 2)
    if (element.scrollTop < NEAR_START && olderThan(transcript) !== null) void conversation.loadOlder()
  }

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        onFocus={({ target, currentTarget }) => setIn(target !== currentTarget)}
        onBlur={() => setIn(false)}
        role="log"
        aria-live="off"
        aria-label={t("conversation.log")}
        aria-busy={isWriting}
        tabIndex={0}
        className="h-full overflow-y-auto outline-offset-[-3px] [overflow-anchor:none]"
      >
        {state.loadingOlder && (
          <p className="py-2 text-center text-[13px] text-faint">{t("conversation.loadingEarlier")}</p>
        )}
        <div className="relative mx-auto w-full max-w-3xl" style={{ height }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 px-4 md:px-7"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line
                row={rows[index]}
                part={tail[index - rows.length]}
                sending={sending}
                conversation={conversation}
                state={state}
              />
            </div>
          ))}
        </div>
      </div>
      {isAway && (
        <button
          type="button"
          onClick={() => virtualizer.scrollToEnd()}
          className="appear absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-surface px-3 text-[13px] text-soft shadow-md hover:text-ink"
        >
          <ArrowDown className="size-3.5" /> {t("conversation.toEnd")}
        </button>
      )}
    </div>
  )
}

const isWithin = (element: Element | null): boolean => element?.contains(document.activeElement) === true
/** Whether the element is a text field. */
const isWritten = (element: Element | null): boolean => element?.matches("textarea, input, select") === true
const distanceFromEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): number =>
  scrollHeight - scrollTop - clientHeight

interface LineProps extends MessageListProps {
  readonly row: Row | undefined
  readonly part: string | undefined
  readonly sending: readonly Sending[]
}

function Line({ row, part, sending, conversation, state }: LineProps) {
  if (row) {
    return (
      <ErrorBoundary instead={<p className="py-2 text-sm text-danger">{t("conversation.notDisplayed")}</p>}>
        <DrawnRow row={row} conversation={conversation} />
      </ErrorBoundary>
    )
  }
  if (part === "last-run") return <LastRun conversation={conversation} state={state} />
  const sent = sending.find(({ key }) => key === part)
  return sent ? <SendingRow sent={sent} /> : null
}

interface DrawnRowProps {
  readonly row: Row
  readonly conversation: OpenConversation
}

const DrawnRow = memo(
  function DrawnRow({ row, conversation }: DrawnRowProps) {
    switch (row.type) {
      case "user":
        return <UserRow item={row.item} conversation={conversation} />
      case "reply":
        // Separate children: keys would recreate the reply when it is complete.
        return (
          <ReplyRow
            text={row.text}
            item={row.item}
            thinking={row.thinking}
            isLast={row.isLast}
            doing={row.doing}
            conversation={conversation}
          />
        )
      case "work":
        return <WorkRow items={row.items} since={row.since} />
      case "proposal":
        return <ProposalCard item={row.item} call={row.call} />
      case "notice":
        return <NoticeRow item={row.item} />
      case "unknown":
        return <UnknownRow item={row.item} />
    }
  },
  (before, after) => isSameRow(before.row, after.row),
)

/** A notice in the conversation. How the last run ended is shown at the end of the list instead. */
function NoticeRow({ item }: { readonly item: NoticeItem }) {
  const says = describeNotice(item)
  if (says === undefined) return null
  if (item.notice === "compacted") return <SummaryRow item={item} />
  return (
    <p className="flex items-start gap-2 py-2 text-[13px] text-faint">
      <Info className="mt-[3px] size-3.5 shrink-0" /> <Plain text={says} />
    </p>
  )
}

/** An event of a newer server that this page does not know. */
function UnknownRow({ item: { frame } }: { readonly item: UnknownItem }) {
  return (
    <details className="py-2 text-[13px] text-faint">
      <summary>{rich("conversation.unknownEvent", { type: <Plain text={frame.type} /> })}</summary>
      <Json value={frame.data} />
    </details>
  )
}

/** A summary: it opens to show the summary, what it replaced and what was kept. */
function SummaryRow({ item }: { readonly item: NoticeItem }) {
  const { detail, summedUp = {} } = item
  return (
    <details className="group py-2 text-[13px] text-soft">
      <summary className="flex items-start gap-2 rounded-lg hover:text-ink">
        <ChevronRight
          className="mt-[3px] size-3.5 shrink-0 transition-transform group-open:rotate-90"
          aria-hidden="true"
        />
        {describeNotice(item)}
      </summary>
      <div className="mt-2 ml-1.5 border-l-2 border-line pl-4">
        <p className="mb-2">{describeSummary(summedUp)}</p>
        <Markdown text={detail ?? ""} />
        {summaryLists(summedUp).map(({ head, lines }) => (
          <div key={head} className="mt-3">
            <p className="font-medium">{head}</p>
            <ul className="list-disc pl-5">
              {lines.map((each, index) => (
                <li key={index} className="[overflow-wrap:anywhere]">
                  <Plain text={each} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </details>
  )
}

interface WritingKeys {
  /** The key of the streaming reply. */
  readonly next: string
  /** The keys that replies had while they streamed, by message. */
  readonly of: ReadonlyMap<string, string>
}

/**
 * A reply keeps the key that it had while it streamed. With a new key its whole text would be drawn again when it is
 * complete.
 */
function useWritingKey({ writing, items }: Transcript): WritingKeys {
  const kept = useRef({ count: 0, wasWriting: false, of: new Map<string, string>() }).current
  if (writing !== null) kept.wasWriting = true
  else if (kept.wasWriting) {
    kept.wasWriting = false
    const last = items.findLast((item) => item.type === "message")
    if (last?.message.role === "assistant") kept.of.set(last.key, `writing-${kept.count++}`)
  }
  return { next: `writing-${kept.count}`, of: kept.of }
}
