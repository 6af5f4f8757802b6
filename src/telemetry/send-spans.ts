import type { HrTime, Link, SpanContext } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace"
import { type Clock, sleep } from "../agent/clock.ts"
import { traceIdOf } from "./ids.ts"
import type { TelemetrySettings } from "./settings.ts"
import type { RunSpan, SpanAttributes } from "./span.ts"
import type { SendSpans } from "./span-queue.ts"

/** Disposing breaks off what is under way. */
export interface Sending extends Disposable {
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
