import type { TelemetrySettings } from "../../telemetry/settings.ts"
import type { Finding } from "./finding.ts"

const PATIENCE_MS = 5000

/** Whether the receiver of traces takes what it is sent: an empty batch, which is a whole one as OTLP has it. */
export async function* examineTraces(telemetry: TelemetrySettings | undefined): AsyncGenerator<Finding> {
  if (!telemetry) return
  const { url, headers, protocol } = telemetry
  const { origin } = new URL(url)
  const [type, body] =
    protocol === "http/json" ? ["application/json", '{"resourceSpans":[]}'] : ["application/x-protobuf", ""]
  try {
    const response = await fetch(url, {
      ...{ method: "POST", headers: { ...headers, "content-type": type }, body, redirect: "manual" as const },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await response.body?.cancel()
    yield response.ok
      ? ["ok", `traces: ${origin} takes them, as ${protocol}`]
      : ["wrong", `traces: ${origin} answers with status ${response.status}; ${cureOf(response.status)}`]
  } catch {
    yield [
      "wrong",
      `traces: ${origin} could not be reached; see to OTEL_EXPORTER_OTLP_ENDPOINT, or to whoever listens there`,
    ]
  }
}

function cureOf(status: number): string {
  if (status === 401 || status === 403) return "see to OTEL_EXPORTER_OTLP_HEADERS"
  if (status === 404 || status === 405)
    return "see to the path of OTEL_EXPORTER_OTLP_ENDPOINT, to which /v1/traces is added"
  if (status === 415) return "try the other OTEL_EXPORTER_OTLP_PROTOCOL"
  return "look into what it has written down of it"
}
