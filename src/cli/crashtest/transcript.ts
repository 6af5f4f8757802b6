import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { LifeOutcome, TranscriptLine } from "./life-files.ts"

/** What was said, called and found, and how each run ended: without ids and times, which no two lives share. */
export function toTranscript(events: readonly (JournalEvent | UnknownEvent)[]): LifeOutcome {
  const known = events as readonly JournalEvent[]
  const doubted = new Set(known.flatMap((event) => (event.type === "in_doubt" ? [event.callId] : [])))
  const lines: { line: TranscriptLine; seq: number }[] = []
  let status = "nothing was asked"
  let seq = 0
  for (const event of known) {
    if (event.type === "message") {
      seq = event.seq
      for (const part of event.parts) {
        if (part.type === "text") lines.push({ seq, line: { who: event.role, text: plain(part.text) } })
        if (part.type === "call")
          lines.push({ seq, line: { who: "call", text: plain(`${part.name} ${JSON.stringify(part.input)}`) } })
      }
    }
    if (event.type === "tool_end") {
      seq = Math.max(seq, event.seq)
      const line = { who: `result ${event.status}`, text: plain(event.text) }
      lines.push({ seq: event.seq, line: doubted.has(event.callId) ? { ...line, wasInDoubt: true } : line })
    }
    if (event.type === "run_ended") {
      status = event.error ? `${event.status}: ${event.error.code}` : event.status
      lines.push({ seq, line: { who: "run", text: event.reason ? `${status} (${event.reason})` : status } })
    }
  }
  // Results of one reply end in any order, and have their places by their calls.
  return { transcript: lines.sort((one, other) => one.seq - other.seq).map(({ line }) => line), status }
}

/** Ids are new in each life. */
const plain = (text: string): string => text.replaceAll(/\b([a-z]+)_[0-9A-Za-z]{16,}\b/g, "$1_…")
