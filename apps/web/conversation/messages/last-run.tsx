import { useState } from "react"
import { CONTINUE_TEXT, type Item, isCutShort } from "../../../../client/index.ts"
import { RotateCcw } from "../../components/icons.tsx"
import { Button, ButtonLink, Link } from "../../components/button.tsx"
import { attempt, useAttempt } from "../../components/explain.ts"
import { Plain } from "../../components/plain.tsx"
import { client } from "../../state/client.ts"
import type { ConversationState, OpenConversation } from "../../state/conversation.ts"
import { sendMessage } from "../../state/outbox.ts"
import { t } from "../../strings/strings.ts"
import { compact } from "../composer/context-meter.tsx"
import { forkBefore } from "./fork.tsx"
import { usageText } from "./describe-reply.ts"

interface LastRunProps {
  readonly conversation: OpenConversation
  readonly state: ConversationState
}

/** How the last run ended: its usage, and what to do if it failed. Also after a reload. */
export function LastRun({ conversation, state: { transcript, lastRun } }: LastRunProps) {
  const { items, status } = transcript
  const run = transcript.run ?? lastRun
  if (!run || items.length === 0 || status === "awaiting_confirmation") return null
  const usage = transcript.run ? transcript.usage : lastRun?.usage
  const left = run.status === "completed" ? leftUnanswered(items) : { status: run.status, ...run.error }
  if (left?.status === "failed" || left?.status === "cancelled") {
    const resume = () => void attempt(() => client.resumeRun({ params: { id: conversation.id } }))
    return (
      <div className="my-2 flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-sm">
        <p className={`min-w-0 flex-1 basis-80 ${left.status === "failed" ? "text-danger" : "text-soft"}`}>
          {left.status === "cancelled" ? (
            t("conversation.stoppedEarly")
          ) : (
            <Plain text={left.message ?? t("conversation.announceFailed")} />
          )}
        </p>
        <Link to={`/runs/${run.id}`} className="text-soft underline underline-offset-2">
          {t("conversation.details")}
        </Link>
        {left.code === "context_overflow" && <MakeRoom conversation={conversation} items={items} />}
        <Button small onClick={resume}>
          <RotateCcw className="size-3.5" /> {t(left.status === "failed" ? "common.retry" : "conversation.continue")}
        </Button>
      </div>
    )
  }
  const words = usage ? usageText(usage) : ""
  const last = items.findLast((item) => item.type === "message")
  return (
    <>
      {last && status === "active" && isCutShort(last.message) && <ContinueReply key={last.key} id={conversation.id} />}
      {words !== "" && <p className="pt-1 pb-2 text-xs text-faint">{t("conversation.used", { usage: words })}</p>}
    </>
  )
}

interface MakeRoomProps {
  readonly conversation: OpenConversation
  readonly items: readonly Item[]
}

/** The context is full: offers each solution with one click. */
function MakeRoom({ conversation, items }: MakeRoomProps) {
  const { once, isBusy } = useAttempt()
  const said = items.flatMap((item) => (item.type === "message" && item.message.role === "user" ? [item.message] : []))
  const last = said.at(-1)
  return (
    <>
      <Button small disabled={isBusy} onClick={() => void once(() => compact(conversation.id))}>
        {t("conversation.summarize")}
      </Button>
      {last && (
        <Button small disabled={isBusy} onClick={() => void once(() => forkBefore(conversation, last))}>
          {t("conversation.branchBeforeLast")}
        </Button>
      )}
      <ButtonLink small to="/">
        {t("shell.newConversation")}
      </ButtonLink>
    </>
  )
}

/** The last reply was cut by the limit: offers to continue it. */
function ContinueReply({ id }: { readonly id: string }) {
  const [isSent, setSent] = useState(false)
  const goOn = () => {
    setSent(true)
    sendMessage({ conversationId: id }, CONTINUE_TEXT)
  }
  return (
    <Button small disabled={isSent} onClick={goOn}>
      {t("conversation.continue")}
    </Button>
  )
}

interface Left {
  readonly status: "failed" | "cancelled"
  /** The code of the error. */
  readonly code: string | undefined
  readonly message: string | undefined
}

/**
 * How the run before a summary ended, if it left a question without an answer: it can be resumed. Computed from the
 * items, which are the same live and after a reload.
 */
export function leftUnanswered(items: readonly Item[]): Left | undefined {
  const behind = items.findLastIndex(({ type }) => type !== "notice") + 1
  const notices = items.slice(behind).flatMap((item) => (item.type === "notice" ? [item] : []))
  const stop = notices.find(({ notice }) => notice === "failed" || notice === "cancelled")
  const newest = notices.at(-1)?.notice
  const last = items[behind - 1]
  // The cancelled run was itself a summary after a complete answer.
  const isAnswered = last?.type === "message" && last.message.role === "assistant" && last.message.finish === "stop"
  if (!stop || isAnswered || (newest !== "compacted" && newest !== "not_compacted")) return undefined
  const [, code, message] = /^([a-z_]+): ([^]*)$/.exec(stop.detail ?? "") ?? []
  return { status: stop.notice === "failed" ? "failed" : "cancelled", code, message }
}
