import { Clock, Square } from "../../icons/signs.ts"
import { useEffect, useState } from "react"
import { programWords } from "../../../src/client/index.ts"
import { Button } from "../../parts/button.tsx"
import { Plain } from "../../parts/plain.tsx"
import { stopRun } from "./stop-run.ts"
import type { Unwritten } from "../../state/use-unwritten.ts"

interface ProgramNoteProps {
  readonly conversationId: string
  readonly transcript: Unwritten
}

/** That the run waits for a program and not for the person, until when, and how to go on. */
export function ProgramNote({ conversationId, transcript }: ProgramNoteProps) {
  const says = useProgramWords(transcript)
  if (says === undefined) return null
  return (
    <div className="mb-2 flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-2.5 text-sm">
      <Clock className="size-4 shrink-0 text-accent" aria-hidden="true" />
      <p className="min-w-0 flex-1 text-soft">
        <Plain text={says} />
      </p>
      <Button small onClick={() => void stopRun(conversationId)}>
        <Square className="size-3 fill-current" /> Stop
      </Button>
    </div>
  )
}

const EVERY_MS = 30_000

/** Nothing comes from the server when the time is up, so it is looked at again from time to time. */
export function useProgramWords(transcript: Unwritten): string | undefined {
  const [now, setNow] = useState(Date.now)
  const says = programWords(transcript, { now, toTime })
  const waits = says !== undefined
  useEffect(() => {
    if (!waits) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [waits])
  return says
}

const toTime = (iso: string): string => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
