import { createRequire } from "node:module"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { Face } from "../support/server/face.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said, as the client reads it; tests look into it freely
type Told = any

export interface OpenAiOptions {
  readonly apiKey: string
  readonly baseURL: string
  readonly fetch?: typeof fetch
  readonly maxRetries?: number
}

/** The part of the official client that tests use. Its own types are four thousand files, which would slow every type check. */
export interface OpenAiClient {
  readonly models: { list(): Promise<{ readonly data: Told[] }>; retrieve(id: string): Promise<Told> }
  readonly chat: { readonly completions: { create(body: object, options?: object): OpenAiPromise } }
  readonly conversations: {
    create(body?: object): Promise<Told>
    retrieve(id: string): Promise<Told>
    update(id: string, body: object): Promise<Told>
    delete(id: string): Promise<Told>
    readonly items: {
      create(id: string, body: object): Promise<Told>
      list(id: string, query?: object): Promise<Told> & AsyncIterable<Told>
      retrieve(item: string, of: { conversation_id: string }): Promise<Told>
      delete(item: string, of: { conversation_id: string }): Promise<Told>
    }
  }
  readonly embeddings: { create(body: object): OpenAiPromise }
  readonly files: {
    create(body: object): Promise<Told>
    retrieve(id: string): Promise<Told>
    content(id: string): Promise<Response>
    delete(id: string): Promise<Told>
    list(query?: object): Promise<Told> & AsyncIterable<Told>
  }
  readonly responses: {
    create(body: object, options?: object): OpenAiPromise
    retrieve(id: string, query?: object): OpenAiPromise
    cancel(id: string): OpenAiPromise
    delete(id: string): OpenAiPromise
    compact(body: object): Promise<Told>
    readonly inputTokens: { count(body: object): Promise<Told> }
    readonly inputItems: { list(id: string, query?: object): AsyncIterable<Told> }
    stream(body: object): AsyncIterable<Told> & { finalResponse(): Promise<Told> }
  }
}

interface OpenAiPromise extends Promise<Told> {
  withResponse(): Promise<{ readonly data: Told; readonly response: Response }>
}

/** The official client from npm, as a program loads it. */
export const OpenAI = (
  createRequire(import.meta.url)("openai") as { readonly default: new (options: OpenAiOptions) => OpenAiClient }
).default

export interface OpenAiPerson {
  readonly client: OpenAiClient
  readonly token: string
  /** The id of the token, to revoke it. */
  readonly tokenId: string
}

/** Creates a person who uses the client against a server in this process, without retries, so that each call is one request. */
export async function openAiAs(face: Face, name: string, ...granted: Scope[]): Promise<OpenAiPerson> {
  const person = await face.store.people.ensure(name, Date.now())
  const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
  const { id: tokenId, token } = await face.store.people.createToken(person, scopes, Date.now())
  const ask = ((url: string, init: RequestInit) => face.fetch(new Request(url, init))) as typeof fetch
  const client = new OpenAI({ apiKey: token, baseURL: "http://localhost/v1", fetch: ask, maxRetries: 0 })
  return { token, tokenId, client }
}

/** Returns the error of a rejected promise, as the client reports it. */
export const refusalOf = (promise: Promise<unknown>): Promise<Told> =>
  promise.then(
    (answered) => Promise.reject(new Error(`it was answered: ${JSON.stringify(answered).slice(0, 200)}`)),
    (error: unknown) => error,
  )
