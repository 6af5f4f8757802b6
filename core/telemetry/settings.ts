/** How spans are told and to whom, as the standard variables `OTEL_*` say; docs/recipes/export-traces.md. */
export interface TelemetrySettings {
  /** Where batches are posted: the whole address, with its path. */
  readonly url: string
  readonly protocol: "http/json" | "http/protobuf"
  readonly headers: Readonly<Record<string, string>>
  /** How long one batch may take, its repetitions included. */
  readonly timeoutMs: number
  readonly serviceName: string
  /** What else is said of this process: `deployment.environment.name` and the like. */
  readonly resource: Readonly<Record<string, string>>
  /** Of all runs, the share that is told: 0 to 1. By the run's id, so that every process decides alike. */
  readonly share: number
  /** Whether what people, models and tools say is told, too. */
  readonly content: boolean
}
