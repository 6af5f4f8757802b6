import type { HrTime, Link, SpanContext } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace"
import type { RunId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, sleep } from "../shared/time/clock.ts"
import type { TelemetrySettings } from "./settings.ts"
import { type RunSpan, type SpanAttributes, traceIdOf } from "./span.ts"

/**
 * Spans that wait to be sent. Further ones are dropped and counted: a run is never delayed, and memory stays bounded.
 */
const MAX_WAITING = 4096
/** A batch is sent when it is full, or after this time. */
const BATCH_SPANS = 512
const WAIT_MS = 2000
/** A failing receiver is logged at most this often. */
const WARN_EVERY_MS = 60_000

export type Outcome = "sent" | "failed" | "dropped"

/** Sends a batch. Rejects if it did not arrive. */
type SendSpans = (spans: readonly RunSpan[]) => Promise<void>

interface SpanQueueOptions {
  readonly send: SendSpans
  readonly clock: Clock
  readonly log: Log
  readonly count: (outcome: Outcome, spans: number) => void
  readonly maxWaiting?: number
}

/** Queues spans and sends one batch at a time. Never makes a caller wait and never grows without a bound. */
export class SpanQueue {
  readonly #options: SpanQueueOptions
  #waiting: RunSpan[] = []
  #sending: Promise<void> | undefined
  #cancelAlarm: (() => void) | undefined
  #warnedAt = -Infinity

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  add(spans: readonly RunSpan[]): void {
    const { count, maxWaiting = MAX_WAITING, clock } = this.#options
    const room = Math.max(0, maxWaiting - this.#waiting.length)
    this.#waiting.push(...spans.slice(0, room))
    if (spans.length > room) count("dropped", spans.length - room)
    if (this.#waiting.length >= BATCH_SPANS) this.#send()
    else if (this.#waiting.length > 0) this.#cancelAlarm ??= clock.alarm(WAIT_MS, () => this.#send(), "background")
  }

  /** Sends the waiting spans until the time is up, and drops the rest. */
  async flush(ms: number): Promise<void> {
    const timeout = Promise.withResolvers<void>()
    const cancel = this.#options.clock.alarm(ms, () => timeout.resolve())
    let isTimedOut = false
    const sendAll = async () => {
      while (!isTimedOut && (this.#sending || this.#waiting.length > 0)) {
        this.#send()
        await this.#sending
      }
    }
    await Promise.race([sendAll(), timeout.promise])
    isTimedOut = true
    cancel()
    this.#cancelAlarm?.()
    if (this.#waiting.length > 0) this.#options.count("dropped", this.#waiting.length)
    this.#waiting = []
  }

  #send(): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = undefined
    if (this.#sending || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, BATCH_SPANS)
    this.#sending = this.#sendBatch(batch).finally(() => {
      this.#sending = undefined
      this.add([]) // spans that arrived in the meantime
    })
  }

  async #sendBatch(batch: readonly RunSpan[]): Promise<void> {
    const { send, count } = this.#options
    try {
      await send(batch)
      count("sent", batch.length)
    } catch (error) {
      count("failed", batch.length)
      this.#warn(error)
    }
  }

  #warn(error: unknown): void {
    const { clock, log } = this.#options
    if (clock.now() - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = clock.now()
    // The message of a `fetch` error has the reason only in its cause.
    const { message, cause } = error as Error
    const problem = cause instanceof Error ? `${message}: ${cause.message}` : message
    log.warn("spans_not_sent", { problem })
  }
}

/** Disposing aborts the request in flight. */
interface SpanSender extends Disposable {
  readonly send: SendSpans
}

/**
 * OpenTelemetry's numbers for span kinds and statuses. Its enums are loaded with the packages, so they are repeated.
 */
const KINDS = { internal: 0, client: 2 } as const
const [UNSET, ERROR] = [0, 2] as const
const SAMPLED = 1

/** The wait before the first retry. It doubles each time. */
const FIRST_WAIT_MS = 1000
/** OTLP says that these responses, and failed connections, are retried. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504])

export interface SpanSenderPorts {
  readonly clock: Clock
  readonly version: string
}

/**
 * Sends spans in the format of OpenTelemetry's official serializers, which are imported only here. The request is our
 * own: the official exporter cannot be stopped before its last retry, and would delay the end of the process.
 */
export async function openSpanSender(
  settings: TelemetrySettings,
  { clock, version }: SpanSenderPorts,
): Promise<SpanSender> {
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
    await response.body?.cancel() // its content is not needed, and may never end
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
        if (signal.aborted || (typeof status === "number" && !RETRIED_STATUSES.has(status))) throw problem
        await sleep(clock, wait, signal)
        if (signal.aborted) throw problem
      }
    },
    [Symbol.dispose]: () => closing.abort(),
  }
}

function toOtel(span: RunSpan): Omit<ReadableSpan, "resource" | "instrumentationScope"> {
  const { run, id, parent, name, kind, from, to, attributes, error, events: moments = [], callerTrace: askedBy } = span
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
    attributes: definedAttributes(attributes),
    links: toLinks(askedBy),
    events: moments.map((each) => ({
      name: each.name,
      time: toTime(each.at),
      attributes: definedAttributes(each.attributes),
    })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const toTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

function definedAttributes(attributes: SpanAttributes): ReadableSpan["attributes"] {
  const defined = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as ReadableSpan["attributes"]
}

function toLinks(traceparent: string | undefined): Link[] {
  const [, traceId, spanId, traceFlags = "0"] = traceparent?.split("-") ?? []
  if (!traceId || !spanId) return []
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(traceFlags, 16), isRemote: true } }]
}

/**
 * Returns whether a run is sampled. OpenTelemetry's sampler decides by the trace id alone, so every process decides
 * alike.
 */
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
