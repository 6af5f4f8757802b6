/** The export of spans, as the standard `OTEL_*` variables set it; docs/recipes/export-traces.md. */
export interface TelemetrySettings {
  /** The complete address, with its path. */
  readonly url: string
  readonly protocol: "http/json" | "http/protobuf"
  readonly headers: Readonly<Record<string, string>>
  /** The time limit of one batch with its retries. */
  readonly timeoutMs: number
  readonly serviceName: string
  /** Further attributes of this process, such as `deployment.environment.name`. */
  readonly resource: Readonly<Record<string, string>>
  /** The share of all runs that is exported, from 0 to 1. The run's id decides, so every process decides alike. */
  readonly share: number
  /** Whether the texts of people, models and tools are exported, too. */
  readonly content: boolean
}
