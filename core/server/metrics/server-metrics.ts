const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export type ServerMetrics = ReturnType<typeof createServerMetrics>

/** The metrics of a server. Label values are fixed names, never ids or other values that a caller can choose. */
export function createServerMetrics() {
  const all = new Metrics()
  return {
    all,
    requests: all.counter("pawl_http_requests_total", "Requests by route and status."),
    requestSeconds: all.histogram("pawl_http_request_duration_seconds", "Time to the head of the answer.", SECONDS),
    streams: all.gauge("pawl_open_streams", "Streams and sockets that are open now."),
    runs: all.counter("pawl_runs_total", "Runs that started, paused, or ended, by status."),
    runErrors: all.counter("pawl_run_errors_total", "Runs that failed, by code."),
    restarts: all.counter("pawl_run_restarts_total", "Steps that were interrupted and restarted, by cause."),
    modelCalls: all.counter("pawl_model_calls_total", "Calls of a model by provider and how they ended: ok or a code."),
    modelTokens: all.counter("pawl_model_tokens_total", "Tokens by provider and direction."),
    toolCalls: all.counter("pawl_tool_calls_total", "Calls of a tool by name and how they ended."),
    toolSeconds: all.histogram("pawl_tool_duration_seconds", "How long a tool took to answer, by name.", SECONDS),
    reusedAnswers: all.counter("pawl_tool_answers_reused_total", "Calls that were answered from what was read before."),
    verdicts: all.counter("pawl_guardrail_verdicts_total", "Questions by what the guardrail said of them."),
    choices: all.counter("pawl_router_choices_total", "Decisions of agents with stages: to call a tool or to answer."),
    grades: all.counter("pawl_grades_total", "Passages by whether they were found relevant."),
    citations: all.counter(
      "pawl_citations_total",
      "Citations in answers: bound to a passage, flagged, or made up without a marker.",
    ),
    deviceAnswers: all.counter(
      "pawl_device_answers_total",
      "Answers of devices: accepted, or stray (late, repeated, or not requested on that socket).",
    ),
    devices: all.gauge("pawl_devices", "Devices that are connected now."),
    deviceCalls: all.gauge("pawl_device_calls_waiting", "Calls that wait for the answer of a device."),
    proposals: all.counter(
      "pawl_proposals_total",
      "Proposals by what became of them; waiting when they began to wait.",
    ),
    commits: all.counter("pawl_journal_commits_total", "Commits to journals."),
    events: all.counter("pawl_journal_events_total", "Events that were appended."),
    spans: all.counter(
      "pawl_spans_total",
      "Spans by what became of them: sent, failed, or dropped because too many waited.",
    ),
    leases: all.gauge("pawl_leases_held", "Conversations that this node is the writer of."),
    takeovers: all.counter(
      "pawl_takeovers_total",
      "Conversations that another node had left and this one went on with.",
    ),
    pollAge: all.gauge("pawl_look_age_seconds", "How long ago this node last saw what others have recorded."),
    busUp: all.gauge("pawl_bus_up", "Whether NATS carries words of this node to others."),
    busLag: all.gauge(
      "pawl_bus_lag_seconds",
      "How long a word takes there and back: to NATS, and to the slowest node.",
    ),
    busUnheard: all.gauge("pawl_bus_unheard_bytes", "Bytes sent through NATS that are not acknowledged yet."),
    busRefused: all.counter("pawl_bus_refused_total", "Messages on NATS that were refused, by reason."),
    lag: all.gauge("pawl_event_loop_lag_seconds", "How late the event loop was, since it was last asked."),
    memory: all.gauge("pawl_memory_bytes", "Memory of the process by kind."),
    uptime: all.gauge("pawl_uptime_seconds", "How long the process runs."),
  }
}

export type Labels = Readonly<Record<string, string | number>>

/** More series of one metric are not counted: labels must not grow without bound. */
const MAX_SERIES = 2000

interface Family {
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  /** Lines as `suffix{labels} value`, without the metric's name. */
  lines(): Iterable<readonly [suffix: string, labels: string, value: number]>
}

/** Metrics in Prometheus' text format. By hand: counting is one addition in a map. */
export class Metrics {
  readonly #families = new Map<string, Family>()

  counter(name: string, help: string): Counter {
    return this.#add(name, new Counter(help, "counter"))
  }

  gauge(name: string, help: string): Counter {
    return this.#add(name, new Counter(help, "gauge"))
  }

  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return this.#add(name, new Histogram(help, buckets))
  }

  /** All metrics in the text format 0.0.4. */
  text(): string {
    let text = ""
    for (const [name, family] of this.#families) {
      text += `# HELP ${name} ${family.help}\n# TYPE ${name} ${family.type}\n`
      for (const [suffix, labels, value] of family.lines()) {
        text += `${name}${suffix}${labels === "" ? "" : `{${labels}}`} ${value}\n`
      }
    }
    return text
  }

  #add<Kind extends Family>(name: string, family: Kind): Kind {
    this.#families.set(name, family)
    return family
  }
}

export class Counter implements Family {
  readonly help: string
  readonly type: "counter" | "gauge"
  readonly #values = new Map<string, number>()

  constructor(help: string, type: "counter" | "gauge") {
    this.help = help
    this.type = type
  }

  add(by = 1, labels: Labels = {}): void {
    const series = toText(labels)
    const before = this.#values.get(series)
    if (before !== undefined || this.#values.size < MAX_SERIES) this.#values.set(series, (before ?? 0) + by)
  }

  set(value: number, labels: Labels = {}): void {
    this.#values.set(toText(labels), value)
  }

  clear(): void {
    this.#values.clear()
  }

  *lines(): Iterable<readonly [string, string, number]> {
    for (const [series, value] of this.#values) yield ["", series, value]
  }
}

export class Histogram implements Family {
  readonly type = "histogram"
  readonly help: string
  readonly #buckets: readonly number[]
  readonly #series = new Map<string, { readonly counts: number[]; sum: number; count: number }>()

  constructor(help: string, buckets: readonly number[]) {
    this.help = help
    this.#buckets = buckets
  }

  observe(value: number, labels: Labels = {}): void {
    const name = toText(labels)
    let series = this.#series.get(name)
    if (!series) {
      if (this.#series.size >= MAX_SERIES) return
      this.#series.set(name, (series = { counts: this.#buckets.map(() => 0), sum: 0, count: 0 }))
    }
    const bucket = this.#buckets.findIndex((most) => value <= most)
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
    series.count++
  }

  *lines(): Iterable<readonly [string, string, number]> {
    for (const [labels, { counts, sum, count }] of this.#series) {
      const before = labels === "" ? "" : `${labels},`
      let below = 0
      for (const [index, most] of this.#buckets.entries()) {
        below += counts[index] ?? 0
        yield ["_bucket", `${before}le="${most}"`, below]
      }
      yield ["_bucket", `${before}le="+Inf"`, count]
      yield ["_sum", labels, sum]
      yield ["_count", labels, count]
    }
  }
}

function toText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(",")
}

const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
