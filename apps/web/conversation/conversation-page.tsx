import { memo, useEffect, useMemo, useState } from "react"
import type { StreamState } from "../../../client/index.ts"
import type { QueuedMessage } from "../../../core/protocol/index.ts"
import { OutdatedResults, outdatedResults } from "../chart/outdated-results.ts"
import { WifiOff } from "../components/icons.tsx"
import { explain } from "../components/explain.ts"
import { LoadProblem } from "../components/use-loaded.tsx"
import { DecideAllBar } from "../proposal/decide-all-bar.tsx"
import { useExpired } from "../proposal/expiry.ts"
import { MissingPage, PageHeader } from "../shell/page-header.tsx"
import { isCovered } from "../shell/page.ts"
import { type OpenConversation, acquire, release } from "../state/conversation.ts"
import { sendMessage } from "../state/outbox.ts"
import { useStore } from "../state/store.ts"
import { type SettledTranscript, useSettledTranscript } from "../state/use-settled-transcript.ts"
import { type Key, t } from "../strings/strings.ts"
import { Composer } from "./composer/composer.tsx"
import { COMPACT, compact } from "./composer/context-meter.tsx"
import { restored } from "./composer/draft.ts"
import { ProgramNote, stopRun, useClientWaitText } from "./composer/program-note.tsx"
import { QuestionCards } from "./composer/question-card.tsx"
import { QueueList } from "./composer/queue-list.tsx"
import { ConversationHeader } from "./conversation-header.tsx"
import { MessageList } from "./messages/message-list.tsx"

export function ConversationPage({ id }: { readonly id: string }) {
  const [conversation, setConversation] = useState<OpenConversation>()
  useEffect(() => {
    setConversation(acquire(id))
    return () => release(id)
  }, [id])
  return conversation ? <Opened conversation={conversation} /> : null
}

function Opened({ conversation }: { readonly conversation: OpenConversation }) {
  const state = useStore(conversation.store)
  const { transcript, phase } = state
  const unwritten = useSettledTranscript(transcript)
  const outdated = useMemo(() => outdatedResults(transcript.items), [transcript.items])
  const isRunning = transcript.status === "running"
  useEffect(() => {
    if (!isRunning) return
    const stop = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || isCovered()) return
      event.preventDefault()
      void stopRun(conversation.id)
    }
    window.addEventListener("keydown", stop)
    return () => window.removeEventListener("keydown", stop)
  }, [isRunning, conversation])
  if (phase === "failed") return <MissingPage says={explain(state.error)} />
  if (phase === "opening" && state.error !== undefined) {
    return (
      <>
        <PageHeader title="Pawl" />
        <LoadProblem problem={state.error} onRetry={() => conversation.open()} className="mx-3 md:mx-5" />
      </>
    )
  }
  return (
    <>
      <ConversationHeader
        conversation={conversation}
        title={transcript.title ?? t("common.untitled")}
        agent={transcript.agent}
        connectionId={transcript.connectionId}
      />
      <ConnectionNotice line={state.line} isOpen={phase === "open"} />
      <OutdatedResults value={outdated}>
        <MessageList conversation={conversation} state={state} />
      </OutdatedResults>
      <Foot conversation={conversation} transcript={unwritten} queue={state.queue} />
    </>
  )
}

interface FootProps {
  readonly conversation: OpenConversation
  readonly transcript: SettledTranscript
  readonly queue: readonly QueuedMessage[]
}

/** Everything below the list. Not redrawn for each piece of a reply. */
const Foot = memo(function Foot({ conversation, transcript, queue }: FootProps) {
  const drafts = useStore(restored)
  return (
    <>
      <div className="mx-auto w-full max-w-3xl px-3 pb-3 md:px-6 md:pb-5">
        <DecideAllBar conversationId={conversation.id} items={transcript.items} />
        <ProgramNote conversationId={conversation.id} transcript={transcript} />
        <QuestionCards conversationId={conversation.id} transcript={transcript} />
        <QueueList conversation={conversation} queue={queue} status={transcript.status} />
        <Composer
          key={drafts}
          conversation={conversation}
          transcript={transcript}
          draftKey={conversation.id}
          onSay={(text, when, files) => {
            if (text.trim() === COMPACT) void compact(conversation.id)
            else sendMessage({ conversationId: conversation.id }, text, when, files)
          }}
        />
      </div>
      <Announcer transcript={transcript} />
    </>
  )
})

const STATUS: Readonly<Record<SettledTranscript["status"], Key>> = {
  active: "conversation.announceDone",
  running: "conversation.announceWorking",
  awaiting_confirmation: "conversation.announceWaiting",
  failed: "conversation.announceFailed",
}

/** Announces the status to screen readers. The reply itself is not read out piece by piece. */
function Announcer({ transcript }: { readonly transcript: SettledTranscript }) {
  const { status, items, isSummingUp } = transcript
  const program = useClientWaitText(transcript)
  const open = items.flatMap((item) => {
    return item.type === "proposal" && item.proposal.status === "pending" ? [item.proposal] : []
  })
  const expired = useExpired(open)
  const isOver = status === "awaiting_confirmation" && open.length > 0 && open.every(({ id }) => expired.has(id))
  const stands = t(status === "running" && isSummingUp ? "conversation.summarizingEarlier" : STATUS[status])
  const waits = open.length === 0 && program !== undefined ? program : stands
  const says = isOver ? t("conversation.announceExpired") : waits
  return (
    <p role="status" className="sr-only">
      {items.length === 0 ? "" : says}
    </p>
  )
}

interface ConnectionNoticeProps {
  readonly line: StreamState["state"]
  readonly isOpen: boolean
}

/** A short interruption is not worth a message. */
const PATIENCE_MS = 1500

/** Reports that the page may be out of date, while it has no connection to the server. */
function ConnectionNotice({ line, isOpen }: ConnectionNoticeProps) {
  const away = isOpen && line !== "live"
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (!away) return setShown(false)
    const timer = setTimeout(() => setShown(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [away])
  if (!isShown) return null
  return (
    <p
      role="status"
      className="appear mx-auto flex w-fit items-center gap-2 rounded-full bg-warn-soft px-3.5 py-1 text-[13px] text-warn"
    >
      <WifiOff className="size-3.5" /> {t("conversation.reconnecting")}
    </p>
  )
}
