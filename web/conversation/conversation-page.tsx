import { memo, useEffect, useMemo, useState } from "react"
import { OutdatedResults, outdatedResults } from "../chart/outdated.ts"
import { explain } from "../parts/explain.ts"
import { Trouble } from "../parts/trouble.tsx"
import { isCovered } from "../shell/shortcuts.ts"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { UNTITLED } from "../shell/conversation-entry.tsx"
import { acquire, type OpenConversation, release } from "../state/conversation.ts"
import { say } from "../state/outbox.ts"
import { useStore } from "../state/store.ts"
import type { QueuedMessage } from "../../src/protocol/index.ts"
import { Announcer } from "./announcer.tsx"
import { Composer } from "./composer/composer.tsx"
import { ConversationHeader } from "./conversation-header.tsx"
import { DecideAllBar } from "../proposal/decide-all-bar.tsx"
import { restored } from "./composer/draft.ts"
import { LineState } from "./line-state.tsx"
import { MessageList } from "./messages/message-list.tsx"
import { ProgramNote } from "./composer/program-note.tsx"
import { QuestionCards } from "./composer/question-card.tsx"
import { QueueList } from "./composer/queue-list.tsx"
import { COMPACT, sumUp } from "./composer/sum-up.ts"
import { stopRun } from "./composer/stop-run.ts"
import { type Unwritten, useUnwritten } from "../state/use-unwritten.ts"

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
  const unwritten = useUnwritten(transcript)
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
        <Trouble problem={state.error} onRetry={() => conversation.open()} className="mx-3 md:mx-5" />
      </>
    )
  }
  return (
    <>
      <ConversationHeader
        conversation={conversation}
        title={transcript.title ?? UNTITLED}
        agent={transcript.agent}
        connectionId={transcript.connectionId}
      />
      <LineState line={state.line} isOpen={phase === "open"} />
      <OutdatedResults value={outdated}>
        <MessageList conversation={conversation} state={state} />
      </OutdatedResults>
      <Foot conversation={conversation} transcript={unwritten} queue={state.queue} />
    </>
  )
}

interface FootProps {
  readonly conversation: OpenConversation
  readonly transcript: Unwritten
  readonly queue: readonly QueuedMessage[]
}

/** What stands below the list, and is not drawn again for each piece of a reply. */
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
            if (text.trim() === COMPACT) void sumUp(conversation.id)
            else say({ conversationId: conversation.id }, text, when, files)
          }}
        />
      </div>
      <Announcer transcript={transcript} />
    </>
  )
})
