import type { HrTime, Link, SpanContext } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace"
import type { RunId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, sleep } from "../shared/time/clock.ts"
import type { TelemetrySettings } from "./settings.ts"
import { type RunSpan, type SpanAttributes, traceIdOf } from "./span.ts"

/** Spans that wait to be sent at most. What comes then is dropped, and counted: a run is never held up, nor memory filled. */
const MAX_WAITING = 4096
/** Sent as soon as so many wait, or after so long. */
const BATCH = 512
const WAIT_MS = 2000
/** How often it is said at most that spans do not arrive. */
const COMPLAIN_MS = 60_000

export type Outcome = "sent" | "failed" | "dropped"

/** Sends a batch; rejects where it did not arrive. */
type SendSpans = (spans: readonly RunSpan[]) => Promise<void>

interface SpanQueueOptions {
  readonly send: SendSpans
  readonly clock: Clock
  readonly log: Log
  readonly count: (outcome: Outcome, spans: number) => void
  readonly maxWaiting?: number
}

/** Between what happens and whoever is told of it: never waits, never grows without end. One batch is under way at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions
  #waiting: RunSpan[] = []
  #sending: Promise<void> | undefined
  #cancelAlarm: (() => void) | undefined
  #complainedAt = -Infinity

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  add(spans: readonly RunSpan[]): void {
    const { count, maxWaiting = MAX_WAITING, clock } = this.#options
    const room = Math.max(0, maxWaiting - this.#waiting.length)
    this.#waiting.push(...spans.slice(0, room))
    if (spans.length > room) count("dropped", spans.length - room)
    if (this.#waiting.length >= BATCH) this.#send()
    else if (this.#waiting.length > 0) this.#cancelAlarm ??= clock.alarm(WAIT_MS, () => this.#send(), "background")
  }

  /** Sends what waits, as far as there is time for it; the rest is dropped. */
  async flush(ms: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#options.clock.alarm(ms, () => late.resolve())
    let isLate = false
    const everything = async () => {
      while (!isLate && (this.#sending || this.#waiting.length > 0)) {
        this.#send()
        await this.#sending
      }
    }
    await Promise.race([everything(), late.promise])
    isLate = true
    cancel()
    this.#cancelAlarm?.()
    if (this.#waiting.length > 0) this.#options.count("dropped", this.#waiting.length)
    this.#waiting = []
  }

  #send(): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = undefined
    if (this.#sending || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, BATCH)
    this.#sending = this.#sendBatch(batch).finally(() => {
      this.#sending = undefined
      this.add([]) // what has come meanwhile
    })
  }

  async #sendBatch(batch: readonly RunSpan[]): Promise<void> {
    const { send, count } = this.#options
    try {
      await send(batch)
      count("sent", batch.length)
    } catch (error) {
      count("failed", batch.length)
      this.#complain(error)
    }
  }

  #complain(error: unknown): void {
    const { clock, log } = this.#options
    if (clock.now() - this.#complainedAt < COMPLAIN_MS) return
    this.#complainedAt = clock.now()
    // What `fetch` throws says why only in its cause.
    const { message, cause } = error as Error
    const problem = cause instanceof Error ? `${message}: ${cause.message}` : message
    log.warn("spans_not_sent", { problem })
  }
}

/** Disposing breaks off what is under way. */
interface Sending extends Disposable {
  readonly send: SendSpans
}

/** Kinds and states of spans as OpenTelemetry numbers them: its own names for these are no values that types leave behind. */
const KINDS = { internal: 0, client: 2 } as const
const [UNSET, ERROR] = [0, 2] as const
const SAMPLED = 1

/** How long it waits before a batch is sent again, at first; then twice as long, and so on. */
const FIRST_WAIT_MS = 1000
/** Answers after which OTLP wants to be asked again; so is who could not be reached. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504])

export interface SendingPorts {
  readonly clock: Clock
  readonly version: string
}

/**
 * Sends spans as the official packages write them, which are loaded here and nowhere else. The request is our own: the exporter
 * that comes with them ends only when its last repetition has, and so would our process.
 */
export async function openSending(settings: TelemetrySettings, { clock, version }: SendingPorts): Promise<Sending> {
  const { url, headers, timeoutMs, serviceName, protocol } = settings
  const [{ JsonTraceSerializer, ProtobufTraceSerializer }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/otlp-transformer"),
    import("@opentelemetry/resources"),
  ])
  const [serializer, type] =
    protocol === "http/json"
      ? [JsonTraceSerializer, "application/json"]
      : [ProtobufTraceSerializer, "application/x-protobuf"]
  const own = { "service.version": version, ...settings.resource, "service.name": serviceName }
  const common = { resource: resourceFromAttributes(own), instrumentationScope: { name: "pawl", version } }
  const closing = new AbortController()
  const post = async (body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<number> => {
    const request = { method: "POST", headers: { ...headers, "content-type": type }, body, signal }
    const response = await fetch(url, { ...request, redirect: "manual" })
    await response.body?.cancel() // nothing that it says besides is of use, and it may never end
    return response.status
  }
  return {
    async send(spans) {
      const body = serializer.serializeRequest(spans.map((span) => ({ ...toOtel(span), ...common })))
      if (!body) throw new Error("These spans cannot be written.")
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
      for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
        const status = await post(body as Uint8Array<ArrayBuffer>, signal).catch((error: unknown) => error as Error)
        if (typeof status === "number" && status < 300) return
        const problem = typeof status === "number" ? new Error(`The receiver of spans answered ${status}.`) : status
        if (signal.aborted || (typeof status === "number" && !AGAIN.has(status))) throw problem
        await sleep(clock, wait, signal)
        if (signal.aborted) throw problem
      }
    },
    [Symbol.dispose]: () => closing.abort(),
  }
}

function toOtel(span: RunSpan): Omit<ReadableSpan, "resource" | "instrumentationScope"> {
  const { run, id, parent, name, kind, from, to, attributes, error, moments = [], askedBy } = span
  const contextOf = (spanId: string): SpanContext => ({ traceId: traceIdOf(run), spanId, traceFlags: SAMPLED })
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => contextOf(id),
    ...(parent === undefined ? {} : { parentSpanContext: contextOf(parent) }),
    startTime: toTime(from),
    endTime: toTime(Math.max(from, to)),
    duration: toTime(Math.max(0, to - from)),
    status: error === undefined ? { code: UNSET } : { code: ERROR, message: error },
    attributes: told(attributes),
    links: toLinks(askedBy),
    events: moments.map((each) => ({ name: each.name, time: toTime(each.at), attributes: told(each.attributes) })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const toTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

function told(attributes: SpanAttributes): ReadableSpan["attributes"] {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as ReadableSpan["attributes"]
}

function toLinks(traceparent: string | undefined): Link[] {
  const [, traceId, spanId, traceFlags = "0"] = traceparent?.split("-") ?? []
  if (!traceId || !spanId) return []
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(traceFlags, 16), isRemote: true } }]
}

/** Which runs are told. By the trace's id alone, with OpenTelemetry's own reckoning: every process decides alike. */
export async function openSampling(share: number): Promise<(run: RunId) => boolean> {
  if (share >= 1) return () => true
  if (share <= 0) return () => false
  const [{ SamplingDecision, TraceIdRatioBasedSampler }, { ROOT_CONTEXT }] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/api"),
  ])
  const sampler = new TraceIdRatioBasedSampler(share)
  const { RECORD_AND_SAMPLED } = SamplingDecision
  return (run) => sampler.shouldSample(ROOT_CONTEXT, traceIdOf(run)).decision === RECORD_AND_SAMPLED
}
