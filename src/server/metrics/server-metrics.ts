import { Metrics } from "./prometheus.ts"

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export type ServerMetrics = ReturnType<typeof createServerMetrics>

/** What a server counts. Labels are names of ours, never an id or anything else that a caller can choose. */
export function createServerMetrics() {
  const all = new Metrics()
  return {
    all,
    requests: all.counter("pawl_http_requests_total", "Requests by route and status."),
    requestSeconds: all.histogram("pawl_http_request_duration_seconds", "Time to the head of the answer.", SECONDS),
    streams: all.gauge("pawl_open_streams", "Streams and sockets that are open now."),
    runs: all.counter("pawl_runs_total", "Runs that started, paused, or ended, by status."),
    runErrors: all.counter("pawl_run_errors_total", "Runs that failed, by code."),
    restarts: all.counter("pawl_run_restarts_total", "Steps that broke off and were begun again, by cause."),
    modelCalls: all.counter("pawl_model_calls_total", "Calls of a model by provider and how they ended: ok or a code."),
    modelTokens: all.counter("pawl_model_tokens_total", "Tokens by provider and direction."),
    toolCalls: all.counter("pawl_tool_calls_total", "Calls of a tool by name and how they ended."),
    toolSeconds: all.histogram("pawl_tool_duration_seconds", "How long a tool took to answer, by name.", SECONDS),
    reusedAnswers: all.counter("pawl_tool_answers_reused_total", "Calls that were answered from what was read before."),
    verdicts: all.counter("pawl_guardrail_verdicts_total", "Questions by what the guardrail said of them."),
    choices: all.counter("pawl_router_choices_total", "What agents with stages chose: to call a tool, or to answer."),
    grades: all.counter("pawl_grades_total", "Passages by whether they were found relevant."),
    citations: all.counter(
      "pawl_citations_total",
      "Citations in answers: bound to a passage, flagged, or made up without a marker.",
    ),
    deviceAnswers: all.counter(
      "pawl_device_answers_total",
      "Answers of devices: taken, or stray (late, doubled, or asked for by nobody over that socket).",
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
    lookAge: all.gauge("pawl_look_age_seconds", "How long ago this node last saw what others have recorded."),
    busUp: all.gauge("pawl_bus_up", "Whether NATS carries words of this node to others."),
    busLag: all.gauge(
      "pawl_bus_lag_seconds",
      "How long a word takes there and back: to NATS, and to the slowest node.",
    ),
    busUnheard: all.gauge("pawl_bus_unheard_bytes", "What was said by NATS and not yet heard to have come there."),
    lag: all.gauge("pawl_event_loop_lag_seconds", "How late the event loop was, since it was last asked."),
    memory: all.gauge("pawl_memory_bytes", "Memory of the process by kind."),
    uptime: all.gauge("pawl_uptime_seconds", "How long the process runs."),
  }
}
