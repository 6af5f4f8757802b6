import type { z } from "zod"
import { endpointEntry } from "./endpoint-schema.ts"
import { providers } from "../list.ts"
import { catalogue, type ModelEntry, sourcedFrom } from "../model-catalogue.ts"
import type { NamedEndpoint } from "./named-endpoint.ts"
import { readJson } from "../../../shared/text/read-json.ts"
import { plainErrors } from "../../../shared/text/schema-text.ts"

type Entry = z.infer<ReturnType<typeof endpointEntry>>
type Environment = Readonly<Record<string, string | undefined>>

/** What is wrong with the operator's endpoints, in a sentence that quotes nothing secret. */
export class EndpointFault extends Error {
  override readonly name = "EndpointFault"
}

/** What is assumed of a model of which the operator says nothing more than its id. */
export const CONTEXT_TOKENS = 128_000

/** The endpoints in the text of a file, with the variables they name read from the environment. Throws an `EndpointFault`. */
export function readEndpoints(text: string, environment: Environment): readonly NamedEndpoint[] {
  const entries = parse(text)
  if (!Array.isArray(entries)) throw new EndpointFault('it must be a list: [{ "name": …, "kind": …, "baseUrl": … }]')
  const schema = endpointEntry()
  const taken = new Map<string, string>([...reserved()].map((name) => [name, "Pawl's own"]))
  return entries.map((entry: unknown, at) => {
    const where = `entry ${at + 1}${nameOf(entry)}`
    try {
      const { data, error } = schema.safeParse(entry, plainErrors)
      if (error) throw new EndpointFault(inWords(error))
      return toEndpoint(data, environment, taken)
    } catch (error) {
      throw error instanceof EndpointFault ? new EndpointFault(`${where}: ${error.message}`) : error
    }
  })
}

function toEndpoint(data: Entry, environment: Environment, taken: Map<string, string>): NamedEndpoint {
  const { name, kind, baseUrl, apiKeyEnv, quirks } = data
  take(taken, name, `the name ${name}`, name)
  const missing = new Set<string>()
  const read = (variable: string, where: string): string => {
    const value = environment[variable]?.trim() ?? ""
    if (value === "") missing.add(variable)
    if (!/^[\x20-\x7e]*$/.test(value)) throw new EndpointFault(`${where}: ${variable} holds what no header can carry`)
    return value
  }
  const apiKey = apiKeyEnv === undefined ? undefined : read(apiKeyEnv, "apiKeyEnv")
  const secrets = new Set(apiKey ? [apiKey] : [])
  const headers = Object.entries(data.headers).map(([header, written]) => {
    const value = written.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
      const filled = read(variable, `headers.${header}`)
      if (filled.length >= SHORTEST_SECRET) secrets.add(filled)
      return filled
    })
    if (isSecretHeader(header, value)) secrets.add(value)
    return [header, value] as const
  })
  const models = data.models.map(({ id, alias, ...facts }): ModelEntry => {
    const full = `${name}/${id}`
    take(taken, full.toLowerCase(), `the model ${id}`, name)
    if (alias !== undefined) take(taken, alias.toLowerCase(), `the alias ${alias}`, name)
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

/** Whatever is not known to be harmless may be a key: the names by which gateways take one are endless. */
export const isSecretHeader = (name: string, value: string): boolean =>
  !HARMLESS.has(name) && value.length >= SHORTEST_SECRET

/** Names, aliases and what stands before their slashes: `qwen/…` would be LM Studio's for one model and not for the next. */
export function reserved(): Set<string> {
  const known = catalogue.flatMap(({ name, aliases }) => [name, ...aliases, ...name.split("/").slice(0, -1)])
  return new Set([...Object.keys(providers), ...known].map((name) => name.toLowerCase()))
}

function take(taken: Map<string, string>, key: string, what: string, by: string): void {
  const owner = taken.get(key)
  if (owner !== undefined)
    throw new EndpointFault(`${what} is taken already: it is ${owner === by ? "here twice" : owner}`)
  taken.set(key, by)
}

/** No key is shorter, and `true`, `3600` or `openai` would be hidden wherever they stand: half of a log, and its JSON. */
const SHORTEST_SECRET = 12

/** Headers that say who asks, or in which version. Hidden in every log, their values would hide half of it. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["accept", "accept-language", "user-agent", "http-referer", "referer", "x-title"],
  ...["anthropic-version", "anthropic-beta", "openai-beta"],
])

function parse(text: string): unknown {
  try {
    return readJson(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    // The rest of the sentence may quote what stands there.
    const [place] = /line \d+ column \d+/.exec((error as Error).message) ?? []
    throw new EndpointFault(`it is not valid JSON${place ? ` (${place.replace(" column", ", column")})` : ""}`)
  }
}

function nameOf(entry: unknown): string {
  const { name } = (typeof entry === "object" && entry !== null ? entry : {}) as { name?: unknown }
  return typeof name === "string" && /^[\w.-]{1,40}$/.test(name) ? ` ("${name}")` : ""
}

function inWords({ issues }: z.ZodError): string {
  const [issue] = issues
  if (!issue) return "it cannot be read"
  const path = issue.path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${/^[\w-]{1,60}$/.test(String(key)) ? String(key) : "…"}`))
    .join("")
  const message = issue.code === "invalid_key" ? issue.issues[0]?.message : issue.message
  return path ? `${path.slice(1)}: ${message}` : `it ${message}`
}
