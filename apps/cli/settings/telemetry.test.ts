import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "./config.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/recipes/export-traces.md"), "utf8")
const block = /```sh otel\n([\s\S]*?)\n *```/.exec(page)?.[1] ?? ""
const lines = block.split("\n").map((line) => line.trim())
const documented = Object.fromEntries(
  lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
)
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" }

test("the settings of docs/recipes/export-traces.md are read as OpenTelemetry means them", () => {
  const { telemetry, secrets, warnings } = readConfig(documented)
  expect(telemetry).toEqual({
    url: "http://127.0.0.1:4318/v1/traces",
    protocol: "http/json",
    headers: { authorization: "Bearer the-key-of-the-receiver" },
    timeoutMs: 10_000,
    serviceName: "pawl-eu",
    resource: { "deployment.environment.name": "production" },
    share: 0.25,
    content: false,
  })
  expect(secrets).toContain("Bearer the-key-of-the-receiver")
  expect(warnings).toEqual([])
})

test("variables for traces override the common ones", () => {
  const traces = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
  }
  const { telemetry } = readConfig({ ...ENDPOINT, ...traces, OTEL_RESOURCE_ATTRIBUTES: "service.name=mine" })
  expect(telemetry).toMatchObject({
    url: "https://traces.example/in",
    protocol: "http/json",
    serviceName: "mine",
    share: 1,
  })
  expect(readConfig(ENDPOINT).telemetry).toMatchObject({
    protocol: "http/protobuf",
    serviceName: "pawl",
    content: false,
  })
})

test.each<Record<string, string>>([
  {},
  { ...ENDPOINT, OTEL_SDK_DISABLED: "true" },
  { ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" },
  { OTEL_EXPORTER_OTLP_TIMEOUT: "10s" },
  { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_TRACES_EXPORTER: "console", OTEL_TRACES_SAMPLER: "jaeger_remote" },
])("traces are not exported, and values are not checked, with %j", (environment) => {
  expect(readConfig(environment).telemetry).toBeUndefined()
})

test.each<[name: string, text: string]>([
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_TRACES_EXPORTER", "console"],
  ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "10s"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "no pair"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
])("%s cannot be %s if traces are exported", (name, text) => {
  expect(() => readConfig({ ...ENDPOINT, [name]: text })).toThrow(`${name} has a value that Pawl does not support`)
})

test("a share is one", () => {
  const sampler = { ...ENDPOINT, OTEL_TRACES_SAMPLER: "traceidratio" }
  expect(readConfig({ ...sampler, OTEL_TRACES_SAMPLER_ARG: "0" }).telemetry?.share).toBe(0)
  expect(() => readConfig({ ...sampler, OTEL_TRACES_SAMPLER_ARG: "2" })).toThrow("OTEL_TRACES_SAMPLER_ARG")
})
