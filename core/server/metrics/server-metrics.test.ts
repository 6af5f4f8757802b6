import { expect, test } from "vitest"
import { Metrics } from "./server-metrics.ts"

test("metrics are in the format of Prometheus", () => {
  const metrics = new Metrics()
  const calls = metrics.counter("calls_total", "Calls.")
  calls.add(1, { tool: 'a "quoted"\\name\n', status: 200 })
  calls.add(2, { tool: 'a "quoted"\\name\n', status: 200 })
  metrics.gauge("open", "Open.").set(3)
  const seconds = metrics.histogram("seconds", "Seconds.", [0.1, 1])
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value, { route: "/" })
  expect(metrics.text()).toBe(
    [
      "# HELP calls_total Calls.",
      "# TYPE calls_total counter",
      'calls_total{tool="a \\"quoted\\"\\\\name\\n",status="200"} 3',
      "# HELP open Open.",
      "# TYPE open gauge",
      "open 3",
      "# HELP seconds Seconds.",
      "# TYPE seconds histogram",
      'seconds_bucket{route="/",le="0.1"} 2',
      'seconds_bucket{route="/",le="1"} 3',
      'seconds_bucket{route="/",le="+Inf"} 4',
      'seconds_sum{route="/"} 7.65',
      'seconds_count{route="/"} 4',
      "",
    ].join("\n"),
  )
})

test("a metric with too many labels stops growing", () => {
  const metrics = new Metrics()
  const calls = metrics.counter("calls_total", "Calls.")
  const seconds = metrics.histogram("seconds", "Seconds.", [1])
  for (let i = 0; i < 5000; i++) {
    calls.add(1, { i })
    seconds.observe(1, { i })
  }
  expect(metrics.text().split("\n").length).toBeLessThan(2000 + 4 * 2000 + 10)
  calls.add(1, { i: 0 })
  expect(metrics.text()).toContain('calls_total{i="0"} 2')
})
