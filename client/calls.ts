import { hasCode } from "../core/protocol/errors.ts"
import type { AnswerOf, BodyInput, ParamsOf, QueryInput, Route } from "../core/protocol/routes/route.ts"
import { ownRoutes } from "../core/protocol/routes/own-routes.ts"
import { backOff } from "./back-off.ts"
import { toClientError, unexpected, unreachable } from "./client-error.ts"
import { sleepOrAbort } from "./clock.ts"
import { label, type RequestParts, type SentFile, type Transport } from "./transport.ts"

/** One method for each route that returns a single response, with the route's name. */
export type Calls = { readonly [Name in CallName]: Call<Table[Name]> }

type Table = typeof ownRoutes
type CallName = { [Name in keyof Table]: Table[Name] extends { stream: "always" } ? never : Name }[keyof Table]

type Call<R extends Route> =
  object extends CallParameters<R>
    ? (request?: CallParameters<R> & CallOptions) => Promise<Answer<R>>
    : (request: CallParameters<R> & CallOptions) => Promise<Answer<R>>

type CallParameters<R extends Route> = Place<"params", ParamsInput<R["path"]>> &
  Place<"query", QueryInput<R>> &
  Place<"body", BodyInput<R>> &
  (R extends { readonly takes: readonly (infer Type)[] } ? { readonly file: SentFile; readonly type?: Type } : object)

/** Omitted if the route takes none, optional if every field has a default. */
type Place<Name extends string, Value> = [Value] extends [undefined]
  ? object
  : object extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value }

type ParamsInput<Path extends string> = [ParamsOf<Path>] extends [never]
  ? undefined
  : { readonly [Name in ParamsOf<Path>]: string }

/** Routes that do not return JSON give the `Response` itself, to be read as a stream. */
type Answer<R extends Route> = R extends { media: string } ? Response : AnswerOf<R>

/** Options of every method that sends one HTTP request: a signal to abort it, and an idempotency key. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /**
   * Requests with the same key and body have their effect once, however often they are sent. `sendMessage` creates a
   * key if none is passed.
   */
  readonly idempotencyKey?: string
}

/** How often a request with a key is sent before the call fails. */
const TRIES = 4

export function createCalls(transport: Transport): Calls {
  const once = Object.entries<Route>(ownRoutes).filter(([, route]) => route.stream !== "always")
  const call = ([name, route]: [string, Route]) => [
    name,
    (request: RequestParts & CallOptions = {}) => ask(transport, { name, route }, request),
  ]
  return Object.fromEntries(once.map(call)) as Calls
}

interface Named {
  readonly name: string
  readonly route: Route
}

/**
 * Sends a request until it is answered. Without a key it is sent once, because a lost request may have had its effect.
 */
async function ask(
  transport: Transport,
  { name, route }: Named,
  request: RequestParts & CallOptions,
): Promise<unknown> {
  const { signal } = request
  const key = request.idempotencyKey ?? (name === "sendMessage" ? newKey() : undefined)
  const sent: RequestParts = { ...request, headers: key === undefined ? {} : keyHeader(key) }
  for (let failures = 1; ; failures++) {
    try {
      return await answer(transport, { name, route }, sent)
    } catch (error) {
      if (key === undefined || failures >= TRIES || !hasCode(error, "unreachable")) throw error
      await sleepOrAbort(transport.clock, backOff({ failures, random: transport.random }), signal)
    }
  }
}

async function answer(transport: Transport, { name, route }: Named, sent: RequestParts): Promise<unknown> {
  const response = await transport.send(name, route, sent)
  const where = label(name, route)
  const { status } = response
  if (status >= 400) throw await toClientError(where, response, transport.clock.now())
  const schema = route.answers[status]
  if (schema === undefined) throw unexpected(where, `status ${status} is not one of its answers`, { status })
  if (schema === null) return null
  if (route.media !== undefined) return response
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    sent.signal?.throwIfAborted()
    throw unreachable(where, error)
  }
  const parsed = schema.safeParse(parseJson(where, text))
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" }
  throw unexpected(where, `${path.map(String).join(".") || "the body"}: ${message}`, { status, cause: parsed.error })
}

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unexpected(where, "the body is not JSON", { cause })
  }
}

export const keyHeader = (key: string) => ({ "idempotency-key": key })

/**
 * Creates a random idempotency key. It does not use `randomUUID`, which browsers do not provide to pages loaded over
 * plain HTTP.
 */
export function newKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
