import type { HrTime, Link, SpanContext } from "@opentelemetry/api"
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace"
import { traceIdOf } from "./ids.ts"
import type { TelemetrySettings } from "./settings.ts"
import type { RunSpan, SpanAttributes } from "./span.ts"
import type { SendSpans } from "./span-queue.ts"

export interface Sending extends AsyncDisposable {
  readonly send: SendSpans
}

/** Kinds and states of spans as OpenTelemetry numbers them: its own names for these are no values that types leave behind. */
const KINDS = { internal: 0, client: 2 } as const
const [UNSET, ERROR] = [0, 2] as const
const SAMPLED = 1

/** The official exporter of OTLP, loaded here and nowhere else. */
export async function openSending(settings: TelemetrySettings, version: string): Promise<Sending> {
  const { url, headers, timeoutMs: timeoutMillis, serviceName, protocol } = settings
  const [{ OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    protocol === "http/json"
      ? import("@opentelemetry/exporter-trace-otlp-http")
      : import("@opentelemetry/exporter-trace-otlp-proto"),
    import("@opentelemetry/resources"),
  ])
  const exporter: SpanExporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis })
  const resource = resourceFromAttributes({
    "service.version": version,
    ...settings.resource,
    "service.name": serviceName,
  })
  const scope = { name: "pawl", version }
  const toReadable = (span: RunSpan): ReadableSpan => ({
    ...toOtel(span),
    resource,
    instrumentationScope: scope,
  })
  return {
    send: (spans) => limited(timeoutMillis, send(exporter, spans.map(toReadable))),
    [Symbol.asyncDispose]: async () => exporter.shutdown(),
  }
}

function send(exporter: SpanExporter, spans: ReadableSpan[]): Promise<void> {
  return new Promise((resolve, reject) => {
    exporter.export(spans, ({ code, error }) => {
      if (code === 0) resolve()
      else reject(error ?? new Error("The receiver of spans refused them."))
    })
  })
}

/** The exporter waits for as long as something still comes; a receiver that answers a letter an hour is given up. */
async function limited(ms: number, work: Promise<void>): Promise<void> {
  work.catch(() => {}) // met below, unless it is late
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`No answer within ${ms} ms.`)), ms)
  timer.unref()
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
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
