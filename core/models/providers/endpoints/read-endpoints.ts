import type { z } from "zod"
import { endpointEntry } from "./endpoint-schema.ts"
import { providers } from "../list.ts"
import { catalogue, type ModelEntry, sourcedFrom } from "../model-catalogue.ts"
import type { NamedEndpoint } from "./named-endpoint.ts"
import { readJson } from "../../../shared/text/read-json.ts"
import { plainErrors } from "../../../shared/text/schema-text.ts"

type Entry = z.infer<ReturnType<typeof endpointEntry>>
type Environment = Readonly<Record<string, string | undefined>>

/** An error in the operator's endpoints, without secrets. */
export class EndpointFault extends Error {
  override readonly name = "EndpointFault"
}

/** The assumed context window of a model if only its id is known. */
export const CONTEXT_TOKENS = 128_000

/** Reads the endpoints in the text of a file, with their environment variables. Throws an `EndpointFault`. */
export function readEndpoints(text: string, environment: Environment): readonly NamedEndpoint[] {
  const entries = parse(text)
  if (!Array.isArray(entries)) throw new EndpointFault('it must be a list: [{ "name": …, "kind": …, "baseUrl": … }]')
  const schema = endpointEntry()
  const taken = new Map<string, string>([...reserved()].map((name) => [name, "Pawl's own"]))
  return entries.map((entry: unknown, at) => {
    const where = `entry ${at + 1}${nameOf(entry)}`
    try {
      const { data, error } = schema.safeParse(entry, plainErrors)
      if (error) throw new EndpointFault(errorText(error))
      return toEndpoint(data, environment, taken)
    } catch (error) {
      throw error instanceof EndpointFault ? new EndpointFault(`${where}: ${error.message}`) : error
    }
  })
}

function toEndpoint(data: Entry, environment: Environment, taken: Map<string, string>): NamedEndpoint {
  const { name, kind, baseUrl, apiKeyEnv, quirks } = data
  reserve(taken, name, `the name ${name}`, name)
  const missing = new Set<string>()
  const read = (variable: string, where: string): string => {
    const value = environment[variable]?.trim() ?? ""
    if (value === "") missing.add(variable)
    if (!/^[\x20-\x7e]*$/.test(value)) throw new EndpointFault(`${where}: ${variable} holds what no header can carry`)
    return value
  }
  const apiKey = apiKeyEnv === undefined ? undefined : read(apiKeyEnv, "apiKeyEnv")
  const secrets = new Set(apiKey ? [apiKey] : [])
  const headers = Object.entries(data.headers).map(([header, template]) => {
    const value = template.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
      const filled = read(variable, `headers.${header}`)
      if (filled.length >= SHORTEST_SECRET) secrets.add(filled)
      return filled
    })
    if (isSecretHeader(header, value)) secrets.add(value)
    return [header, value] as const
  })
  const models = data.models.map(({ id, alias, ...facts }): ModelEntry => {
    const full = `${name}/${id}`
    reserve(taken, full.toLowerCase(), `the model ${id}`, name)
    if (alias !== undefined) reserve(taken, alias.toLowerCase(), `the alias ${alias}`, name)
    const { features = ["tools"], contextTokens = CONTEXT_TOKENS, price = null } = facts
    const sources = {
      ...sourcedFrom(facts.features ? "operator" : "assumed", price ? "operator" : undefined),
      contextTokens: facts.contextTokens ? ("operator" as const) : ("assumed" as const),
    }
    return { name: full, provider: name, id, aliases: alias ? [alias] : [], features, contextTokens, price, sources }
  })
  secrets.delete("")
  return {
    ...{ name, kind, baseUrl, headers: Object.fromEntries(headers), models, missing: [...missing] },
    ...(apiKey ? { apiKey } : {}),
    ...(quirks ? { quirks } : {}),
    secrets: [...secrets],
  }
}

/** Every header that is not known to be harmless may contain a key, because gateways use many names. */
export const isSecretHeader = (name: string, value: string): boolean =>
  !HARMLESS.has(name) && value.length >= SHORTEST_SECRET

/** Names, aliases and their prefixes: an endpoint `qwen` would make `qwen/…` ambiguous. */
export function reserved(): Set<string> {
  const known = catalogue.flatMap(({ name, aliases }) => [name, ...aliases, ...name.split("/").slice(0, -1)])
  return new Set([...Object.keys(providers), ...known].map((name) => name.toLowerCase()))
}

function reserve(taken: Map<string, string>, key: string, what: string, by: string): void {
  const owner = taken.get(key)
  if (owner !== undefined)
    throw new EndpointFault(`${what} is taken already: it is ${owner === by ? "here twice" : owner}`)
  taken.set(key, by)
}

/** Keys are longer. Hiding `true`, `3600` or `openai` everywhere would make logs unreadable. */
const SHORTEST_SECRET = 12

/** Headers without secrets. Hiding their values would make logs unreadable. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["accept", "accept-language", "user-agent", "http-referer", "referer", "x-title"],
  ...["anthropic-version", "anthropic-beta", "openai-beta"],
])

function parse(text: string): unknown {
  try {
    return readJson(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    // The rest of the message may quote secrets.
    const [place] = /line \d+ column \d+/.exec((error as Error).message) ?? []
    throw new EndpointFault(`it is not valid JSON${place ? ` (${place.replace(" column", ", column")})` : ""}`)
  }
}

function nameOf(entry: unknown): string {
  const { name } = (typeof entry === "object" && entry !== null ? entry : {}) as { name?: unknown }
  return typeof name === "string" && /^[\w.-]{1,40}$/.test(name) ? ` ("${name}")` : ""
}

function errorText({ issues }: z.ZodError): string {
  const [issue] = issues
  if (!issue) return "it cannot be read"
  const path = issue.path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${/^[\w-]{1,60}$/.test(String(key)) ? String(key) : "…"}`))
    .join("")
  const message = issue.code === "invalid_key" ? issue.issues[0]?.message : issue.message
  return path ? `${path.slice(1)}: ${message}` : `it ${message}`
}
