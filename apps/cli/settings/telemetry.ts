import type { TelemetrySettings } from "../../../core/telemetry/settings.ts"
import { CommandError } from "../process/command.ts"
import { anyText, Bad, numberFrom, onOrOff, type SettingKind } from "./kinds.ts"
import { setting, type SettingValues, wholeText } from "./setting.ts"

const PROTOCOLS = ["http/protobuf", "http/json"] as const
const SAMPLERS = ["always_on", "always_off", "traceidratio"] as const
const EXPORTERS = ["otlp", "none"] as const
const TIMEOUT = numberFrom({ least: 1, most: 600_000 })
const PAIRS = "name=value pairs, separated by commas"

/** Many programs read these names: a value that is invalid for Pawl counts only if traces are enabled. */
const checkedLater = (allowed: string): SettingKind<string> => ({ ...anyText, allowed })

/** The OpenTelemetry variables that Pawl supports, and one of its own. */
export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(checkedLater("an address such as http://127.0.0.1:4318"), {
    description:
      "The OpenTelemetry collector that runs are exported to as traces (docs/recipes/export-traces.md). `/v1/traces` is appended.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(checkedLater("an address such as http://127.0.0.1:4318/v1/traces"), {
    description: "The same as a full address. Takes precedence over the previous setting.",
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(checkedLater(PROTOCOLS.join(" or ")), {
    description: "The format of exported spans.",
    defaultValue: PROTOCOLS[0],
    also: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting(checkedLater(PAIRS), {
    description: "Headers to send with spans, such as the collector's API key.",
    also: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    secretsIn: (text) => [...wholeText(text), ...Object.values(toPairs(text) ?? {})],
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(checkedLater(TIMEOUT.allowed), {
    description: "The timeout of one batch, in milliseconds.",
    defaultValue: "10000",
    also: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  }),
  OTEL_TRACES_EXPORTER: setting(checkedLater(EXPORTERS.join(" or ")), {
    description: "`none` turns the export off, whatever the endpoint.",
    defaultValue: EXPORTERS[0],
  }),
  OTEL_SDK_DISABLED: setting(checkedLater("true or false"), {
    description: "`true` turns the export off.",
    defaultValue: "false",
  }),
  OTEL_SERVICE_NAME: setting(anyText, { description: "The `service.name` of this server.", defaultText: "`pawl`" }),
  OTEL_RESOURCE_ATTRIBUTES: setting(checkedLater(PAIRS), { description: "More resource attributes." }),
  OTEL_TRACES_SAMPLER: setting(checkedLater(`${SAMPLERS.join(", ")}, each also with parentbased_ before it`), {
    description:
      "Which runs are exported, selected by trace id. A run always starts its own trace, so `parentbased_` changes nothing.",
    defaultValue: "parentbased_always_on",
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(checkedLater("a number from 0 to 1"), {
    description: "For `traceidratio`: the share of runs.",
    defaultValue: "1",
  }),
  PAWL_TRACE_CONTENT: setting(onOrOff, {
    description:
      "Whether spans include the text of messages, replies and results. Everyone who reads traces can then read it.",
    defaultValue: false,
  }),
}

type Values = SettingValues<typeof telemetrySettings>

/** Undefined if traces are disabled: then none of the other values is checked. */
export function toTelemetrySettings(values: Values): TelemetrySettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = values
  const { OTEL_TRACES_EXPORTER: exporter, OTEL_SDK_DISABLED: disabled } = values
  const endpoint = whole ?? base
  if (endpoint === undefined || exporter === "none" || /^true$/i.test(disabled)) return undefined
  oneOf("OTEL_TRACES_EXPORTER", exporter, EXPORTERS)
  const url = URL.parse(endpoint)
  const name = whole === undefined ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
  if (!url || !/^https?:$/.test(url.protocol)) throw refused(name, "an address such as http://127.0.0.1:4318")
  if (whole === undefined) url.pathname += url.pathname.endsWith("/") ? "v1/traces" : "/v1/traces"
  const resource = pairs("OTEL_RESOURCE_ATTRIBUTES", values.OTEL_RESOURCE_ATTRIBUTES)
  return {
    url: url.href,
    protocol: oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", values.OTEL_EXPORTER_OTLP_PROTOCOL, PROTOCOLS),
    headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", values.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMs: timeoutOf(values),
    serviceName: values.OTEL_SERVICE_NAME ?? resource["service.name"] ?? "pawl",
    resource,
    share: shareOf(values),
    content: values.PAWL_TRACE_CONTENT,
  }
}

function timeoutOf({ OTEL_EXPORTER_OTLP_TIMEOUT: text }: Values): number {
  const ms = TIMEOUT.read(text)
  if (ms instanceof Bad) throw refused("OTEL_EXPORTER_OTLP_TIMEOUT", TIMEOUT.allowed)
  return ms
}

function shareOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: text }: Values): number {
  const kind = oneOf("OTEL_TRACES_SAMPLER", sampler.replace(/^parentbased_/, ""), SAMPLERS)
  if (kind !== "traceidratio") return kind === "always_on" ? 1 : 0
  const share = Number(text)
  if (!(share >= 0 && share <= 1)) throw refused("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1")
  return share
}

function oneOf<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === text)
  if (chosen === undefined) throw refused(name, choices.join(" or "))
  return chosen
}

function pairs(name: string, text = ""): Record<string, string> {
  const read = toPairs(text)
  if (!read) throw refused(name, PAIRS)
  return read
}

/** `a=1,b=2`, with URL-encoded values: `%20` is a space. Undefined if the form is wrong. */
function toPairs(text: string): Record<string, string> | undefined {
  const pairs: [string, string][] = []
  for (const item of text.split(",")) {
    const [equals, name] = [item.indexOf("="), item.slice(0, item.indexOf("=")).trim()]
    if (item.trim() === "") continue
    const value = unescaped(item.slice(equals + 1).trim())
    if (equals < 0 || name === "" || value === undefined) return undefined
    pairs.push([name, value])
  }
  return Object.fromEntries(pairs)
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const refused = (name: string, allowed: string): CommandError =>
  new CommandError(
    `${name} has a value that Pawl does not support. Allowed: ${allowed}. To turn traces off, set OTEL_SDK_DISABLED=true.`,
  )
