import manifest from "../../package.json" with { type: "json" }
import type { Log } from "../agent/ports.ts"
import type { ServerMetrics } from "../server/metrics/server-metrics.ts"
import type { Store } from "../store/store.ts"
import type { Telemetry } from "../telemetry/open-telemetry.ts"

/** Whom runs are told to as traces of OpenTelemetry, over OTLP and HTTP. A program says it here: no variable of its environment counts. */
export interface Traces {
  /** Such as `http://127.0.0.1:4318`; `/v1/traces` is added to it. */
  readonly endpoint: string
  /** `http/protobuf` without. */
  readonly protocol?: "http/protobuf" | "http/json"
  readonly headers?: Readonly<Record<string, string>>
  /** What this program is called there; `pawl` without. */
  readonly serviceName?: string
  /** What else is said of it, such as `deployment.environment.name`. */
  readonly resource?: Readonly<Record<string, string>>
  /** Of all runs, the share that is told: 0 to 1, which is usual. */
  readonly share?: number
  /** Whether what people, models and tools say is told too. Whoever reads traces then reads conversations. */
  readonly content?: boolean
}

const TIMEOUT_MS = 10_000

export interface OpenedTraces {
  readonly telemetry: Telemetry
  /** The log with the id of the trace in lines about a run. */
  readonly log: Log
}

/** Loads what is needed for it now: a program that tells nobody does not pay for it. */
export async function openTraces(
  traces: Traces,
  { store, metrics, log }: { readonly store: Store; readonly metrics: ServerMetrics; readonly log: Log },
): Promise<OpenedTraces> {
  const { openTelemetry, tracedLog } = await import("../telemetry/open-telemetry.ts")
  const { endpoint, protocol = "http/protobuf", headers = {}, serviceName = "pawl", resource = {} } = traces
  const url = new URL(endpoint)
  url.pathname += url.pathname.endsWith("/") ? "v1/traces" : "/v1/traces"
  const telemetry = await openTelemetry(
    {
      ...{ url: url.href, protocol, headers, serviceName, resource, timeoutMs: TIMEOUT_MS },
      ...{ share: traces.share ?? 1, content: traces.content ?? false },
    },
    {
      ...{ journal: store.journal, clock: store.clock, log, version: manifest.version },
      count: (outcome, spans) => metrics.spans.add(spans, { outcome }),
    },
  )
  return { telemetry, log: tracedLog(log) }
}
