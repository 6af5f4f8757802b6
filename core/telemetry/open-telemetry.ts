import type { Journal } from "../engine/journal.ts"
import type { Live } from "../engine/ports.ts"
import { type ConversationId, isId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { sleep } from "../shared/time/clock.ts"
import { observedJournal, RunExporter } from "./run-exporter.ts"
import { openSampling, openSpanSender, type Outcome, type SpanSenderPorts, SpanQueue } from "./send-spans.ts"
import type { TelemetrySettings } from "./settings.ts"
import { traceIdOf } from "./span.ts"

/** How long the end of a process waits for spans to be sent: part of a supervisor's grace period. */
const FLUSH_MS = 3000

export interface TelemetryPorts extends SpanSenderPorts {
  readonly journal: Pick<Journal, "read">
  readonly log: Log
  readonly count: (outcome: Outcome, spans: number) => void
}

/** Watches a running server and exports its runs. */
export interface Telemetry extends AsyncDisposable {
  readonly onLive: (id: ConversationId, live: Live) => void
  /** Wraps the journal that the loop writes to. */
  observe(journal: Journal): Journal
}

export async function openTelemetry(settings: TelemetrySettings, ports: TelemetryPorts): Promise<Telemetry> {
  const { journal, clock, log, count } = ports
  const sending = await openSpanSender(settings, ports)
  const isSampled = await openSampling(settings.share)
  const queue = new SpanQueue({ send: sending.send, clock, log, count })
  const exporter = new RunExporter({
    ...{ journal, clock, log, content: settings.content, isSampled },
    emit: (spans) => queue.add(spans),
    dropped: () => count("dropped", 1),
  })
  return {
    onLive: exporter.onLive,
    observe: (each) => observedJournal(each, clock, (spans) => queue.add(spans.filter(({ run }) => isSampled(run)))),
    async [Symbol.asyncDispose]() {
      // A database that does not answer must not delay the end of the process.
      const timeout = new AbortController()
      await Promise.race([exporter.idle(), sleep(clock, FLUSH_MS, timeout.signal)])
      timeout.abort()
      await queue.flush(FLUSH_MS)
      sending[Symbol.dispose]()
    },
  }
}

/** A log that adds the trace id to each line about a run, sampled or not. */
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
