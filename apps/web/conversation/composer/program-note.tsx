import { useEffect, useState } from "react"
import type { CallItem } from "../../../../client/index.ts"
import { Clock, Square } from "../../components/icons.tsx"
import { Button } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { Plain } from "../../components/plain.tsx"
import { client } from "../../state/client.ts"
import { toast } from "../../state/toasts.ts"
import type { SettledTranscript } from "../../state/use-settled-transcript.ts"
import { clock, list } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"

interface ProgramNoteProps {
  readonly conversationId: string
  readonly transcript: SettledTranscript
}

/** Says that the run waits for a program, until when, and how to continue. */
export function ProgramNote({ conversationId, transcript }: ProgramNoteProps) {
  const says = useClientWaitText(transcript)
  if (says === undefined) return null
  return (
    <div className="mb-2 flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-2.5 text-sm">
      <Clock className="size-4 shrink-0 text-accent" aria-hidden="true" />
      <p className="min-w-0 flex-1 text-soft">
        <Plain text={says} />
      </p>
      <Button small onClick={() => void stopRun(conversationId)}>
        <Square className="size-3 fill-current" /> {t("common.stop")}
      </Button>
    </div>
  )
}

const EVERY_MS = 30_000

/** The server sends nothing when the time is up, so a timer checks it. */
export function useClientWaitText(transcript: SettledTranscript): string | undefined {
  const [now, setNow] = useState(Date.now)
  const says = describeClientWait(transcript, now)
  const waits = says !== undefined
  useEffect(() => {
    if (!waits) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [waits])
  return says
}

/** The server's prefix for tools of a program. */
const CLIENT_PREFIX = /^client-/

/**
 * Says that the conversation waits for a program, and what the person can do; undefined if it does not. Without it, the
 * conversation would seem to wait for a decision that does not exist.
 */
function describeClientWait({ items, status }: SettledTranscript, now: number): string | undefined {
  const calls = items.filter(
    (item): item is CallItem => item.type === "call" && item.state === "handed_over" && !item.isOver,
  )
  if (status !== "awaiting_confirmation" || calls.length === 0) return undefined
  const names = list([...new Set(calls.map(({ name }) => name.replace(CLIENT_PREFIX, "")))])
  const until = calls
    .flatMap(({ waitsUntil }) => waitsUntil ?? [])
    .sort()
    .at(-1)
  if (until === undefined) return t("conversation.clientWaits", { names })
  // By the clock of this device: the server reports it with the next event.
  if (Date.parse(until) <= now) return t("conversation.clientTimedOut", { names })
  return t("conversation.clientWaitsUntil", { names, time: clock(until) })
}

/** Cancels the run, whichever device started it. */
export async function stopRun(id: string): Promise<void> {
  await attempt(async () => {
    const { cancelled } = await client.cancelRun({ params: { id } })
    if (!cancelled) toast(t("conversation.alreadyEnded"))
  })
}
