import { RotateCcw } from "../../icons/arrows.ts"
import { useState } from "react"
import { GO_ON, isCutShort } from "../../../src/client/index.ts"
import { Button } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { Link } from "../../parts/link.tsx"
import { Plain } from "../../parts/plain.tsx"
import { client } from "../../state/client.ts"
import type { ConversationState, OpenConversation } from "../../state/conversation.ts"
import { say } from "../../state/outbox.ts"
import { leftUnanswered } from "./left-unanswered.ts"
import { inWords } from "./usage-words.ts"

interface LastRunProps {
  readonly conversation: OpenConversation
  readonly state: ConversationState
}

/** How the newest run went: what it used, and where it failed what to do. Also after a reload, which forgets the frames. */
export function LastRun({ conversation, state: { transcript, lastRun } }: LastRunProps) {
  const { items, status } = transcript
  const run = transcript.run ?? lastRun
  if (!run || items.length === 0 || status === "awaiting_confirmation") return null
  const usage = transcript.run ? transcript.usage : lastRun?.usage
  const left = run.status === "completed" ? leftUnanswered(items) : run.status
  if (left === "failed" || left === "cancelled") {
    const resume = () => void attempt(() => client.resumeRun({ params: { id: conversation.id } }))
    return (
      <div className="my-2 flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-sm">
        <p className={`min-w-0 flex-1 ${left === "failed" ? "text-danger" : "text-soft"}`}>
          {left === "cancelled" ? "Stopped before it was done." : <Plain text={run.error?.message ?? "It failed."} />}
        </p>
        <Link to={`/runs/${run.id}`} className="text-soft underline underline-offset-2">
          Details
        </Link>
        <Button small onClick={resume}>
          <RotateCcw className="size-3.5" /> {left === "failed" ? "Try again" : "Go on"}
        </Button>
      </div>
    )
  }
  const words = usage ? inWords(usage) : ""
  const last = items.findLast((item) => item.type === "message")
  return (
    <>
      {last && status === "active" && isCutShort(last.message) && <GoOn key={last.key} id={conversation.id} />}
      {words !== "" && <p className="pt-1 pb-2 text-xs text-faint">Used {words}</p>}
    </>
  )
}

/** The limit has cut the last reply: its half stays, and one click asks for the rest. */
function GoOn({ id }: { readonly id: string }) {
  const [isSent, setSent] = useState(false)
  const goOn = () => {
    setSent(true)
    say({ conversationId: id }, GO_ON)
  }
  return (
    <Button small disabled={isSent} onClick={goOn}>
      Go on
    </Button>
  )
}
