import type { TelemetrySettings } from "../../../core/telemetry/settings.ts"
import { CommandError } from "../process/command.ts"
import { anyText, Bad, numberFrom, onOrOff, type SettingKind } from "./kinds.ts"
import { setting, type SettingValues, theWhole } from "./setting.ts"

const PROTOCOLS = ["http/protobuf", "http/json"] as const
const SAMPLERS = ["always_on", "always_off", "traceidratio"] as const
const EXPORTERS = ["otlp", "none"] as const
const TIMEOUT = numberFrom({ least: 1, most: 600_000 })
const PAIRS = "name=value pairs, separated by commas"

/** These names are read by every program of a machine: a value that is not for us counts only where spans are to be told. */
const judgedLater = (allowed: string): SettingKind<string> => ({ ...anyText, allowed })

/** The standard variables of OpenTelemetry, as far as Pawl follows them, and one of its own. */
export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(judgedLater("an address such as http://127.0.0.1:4318"), {
    says: "The OpenTelemetry collector that runs are exported to as traces (docs/recipes/export-traces.md). `/v1/traces` is appended.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(judgedLater("an address such as http://127.0.0.1:4318/v1/traces"), {
    says: "The same as a full address. Takes precedence over the previous setting.",
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(judgedLater(PROTOCOLS.join(" or ")), {
    says: "The format of exported spans.",
    usually: PROTOCOLS[0],
    also: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting(judgedLater(PAIRS), {
    says: "Headers to send with spans, such as the collector's API key.",
    also: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    secretsIn: (text) => [...theWhole(text), ...Object.values(toPairs(text) ?? {})],
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(judgedLater(TIMEOUT.allowed), {
    says: "The timeout of one batch, in milliseconds.",
    usually: "10000",
    also: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  }),
  OTEL_TRACES_EXPORTER: setting(judgedLater(EXPORTERS.join(" or ")), {
    says: "`none` turns the export off, whatever the endpoint.",
    usually: EXPORTERS[0],
  }),
  OTEL_SDK_DISABLED: setting(judgedLater("true or false"), { says: "`true` turns the export off.", usually: "false" }),
  OTEL_SERVICE_NAME: setting(anyText, { says: "The `service.name` of this server.", usuallyInWords: "`pawl`" }),
  OTEL_RESOURCE_ATTRIBUTES: setting(judgedLater(PAIRS), { says: "More resource attributes." }),
  OTEL_TRACES_SAMPLER: setting(judgedLater(`${SAMPLERS.join(", ")}, each also with parentbased_ before it`), {
    says: "Which runs are exported, selected by trace id. A run always starts its own trace, so `parentbased_` changes nothing.",
    usually: "parentbased_always_on",
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(judgedLater("a number from 0 to 1"), {
    says: "For `traceidratio`: the share of runs.",
    usually: "1",
  }),
  PAWL_TRACE_CONTENT: setting(onOrOff, {
    says: "Whether spans include the text of messages, replies and results. Everyone who reads traces can then read it.",
    usually: false,
  }),
}

type Values = SettingValues<typeof telemetrySettings>

/** Undefined where nobody is to be told: then nothing else here is judged. */
export function toTelemetrySettings(values: Values): TelemetrySettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = values
  const { OTEL_TRACES_EXPORTER: exporter, OTEL_SDK_DISABLED: disabled } = values
  const given = whole ?? base
  if (given === undefined || exporter === "none" || /^true$/i.test(disabled)) return undefined
  oneOf("OTEL_TRACES_EXPORTER", exporter, EXPORTERS)
  const url = URL.parse(given)
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

/** `a=1,b=2`, each value as in an address: `%20` is a space. Undefined where it is not of this form. */
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
