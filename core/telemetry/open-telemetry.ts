import type { Journal } from "../engine/journal.ts"
import type { Live } from "../engine/ports.ts"
import { type ConversationId, isId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { sleep } from "../shared/time/clock.ts"
import { observedJournal, RunTeller } from "./run-exporter.ts"
import { openSampling, openSending, type Outcome, type SendingPorts, SpanQueue } from "./send-spans.ts"
import type { TelemetrySettings } from "./settings.ts"
import { traceIdOf } from "./span.ts"

/** How long the end of a process waits for spans to be sent: a part of what a supervisor gives it. */
const FLUSH_MS = 3000

export interface TelemetryPorts extends SendingPorts {
  readonly journal: Pick<Journal, "read">
  readonly log: Log
  readonly count: (outcome: Outcome, spans: number) => void
}

/** What hears a server at work and tells of it. */
export interface Telemetry extends AsyncDisposable {
  readonly hear: (id: ConversationId, live: Live) => void
  /** The journal that the loop is to write with. */
  observe(journal: Journal): Journal
}

export async function openTelemetry(settings: TelemetrySettings, ports: TelemetryPorts): Promise<Telemetry> {
  const { journal, clock, log, count } = ports
  const sending = await openSending(settings, ports)
  const isTold = await openSampling(settings.share)
  const queue = new SpanQueue({ send: sending.send, clock, log, count })
  const teller = new RunTeller({
    ...{ journal, clock, log, content: settings.content, isTold },
    tell: (spans) => queue.add(spans),
    dropped: () => count("dropped", 1),
  })
  return {
    hear: teller.hear,
    observe: (each) => observedJournal(each, clock, (spans) => queue.add(spans.filter(({ run }) => isTold(run)))),
    async [Symbol.asyncDispose]() {
      // A database that has fallen silent must not hold up the end of a process either.
      const late = new AbortController()
      await Promise.race([teller.idle(), sleep(clock, FLUSH_MS, late.signal)])
      late.abort()
      await queue.flush(FLUSH_MS)
      sending[Symbol.dispose]()
    },
  }
}

/** The same log: a line about a run also names its trace, told or not. */
export function tracedLog(log: Log): Log {
  const traced = (fields: Record<string, unknown>) => {
    const { run } = fields
    return typeof run === "string" && isId("run", run) ? { ...fields, trace_id: traceIdOf(run) } : fields
  }
  return {
    info: (event, fields) => log.info(event, traced(fields)),
    warn: (event, fields) => log.warn(event, traced(fields)),
    error: (event, fields) => log.error(event, traced(fields)),
  }
}
