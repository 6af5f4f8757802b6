import { createRequire } from "node:module"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { Face } from "../support/server/face.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said, as the client reads it; tests look into it freely
type Told = any

interface AgentOptions {
  readonly url: string
  readonly headers: Record<string, string>
  readonly threadId?: string
  readonly initialState?: object
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** The part of the official client that tests use. */
export interface AgUiAgent {
  readonly threadId: string
  readonly messages: Told[]
  readonly state: Told
  readonly pendingInterrupts: Told[]
  addMessage(message: object): void
  /** The current messages of the thread. */
  connectAgent(parameters?: object, subscriber?: object): Promise<{ readonly newMessages: Told[] }>
  setMessages(messages: object[]): void
  runAgent(
    parameters?: object,
    subscriber?: object,
  ): Promise<{ readonly result: unknown; readonly newMessages: Told[] }>
}

/** The official client from npm, as a program loads it, with its checks of format and order, which reject invalid runs. */
export const agUi = createRequire(import.meta.url)("@ag-ui/client") as {
  readonly HttpAgent: new (options: AgentOptions) => AgUiAgent & {
    readonly url: string
    fetch(url: string, init: RequestInit): Promise<Response>
    requestInit(input: object): RequestInit
  }
  readonly runHttpRequest: (fetch: () => Promise<Response>) => unknown
  readonly transformHttpEventStream: (events: unknown) => unknown
}
export const { HttpAgent } = agUi

/** As in docs/reference/ag-ui.md: the official class has no address to connect to. */
class ConnectingAgent extends HttpAgent {
  connect(input: object): unknown {
    const ask = () => this.fetch(`${this.url}/connect`, this.requestInit(input))
    return agUi.transformHttpEventStream(agUi.runHttpRequest(ask))
  }
}

/** A person who uses the client, with a new agent for each thread. */
export type AgUiPerson = (
  threadId?: string,
  more?: { readonly agent?: string; readonly initialState?: object },
) => AgUiAgent

export async function agUiAs(face: Face, name: string, ...granted: Scope[]): Promise<AgUiPerson> {
  const person = await face.store.people.ensure(name, Date.now())
  const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
  const { token } = await face.store.people.createToken(person, scopes, Date.now())
  return (threadId, { agent = "test", ...more } = {}) =>
    new ConnectingAgent({
      url: `http://localhost/ag-ui/${agent}`,
      headers: { authorization: `Bearer ${token}` },
      fetch: (url, init) => face.fetch(new Request(url, init)),
      ...(threadId === undefined ? {} : { threadId }),
      ...more,
    })
}

/**
 * Fetches as a program does, but a broken connection ends the body without an error. On an error the official client aborts
 * its read with a rejection that cannot be caught; it reports a stream without its last event as broken either way.
 */
export async function fetchBroken(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const reader = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await reader?.read().catch(() => undefined)
      if (read?.value) controller.enqueue(read.value)
      else controller.close()
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

let messages = 0

/** Sends a message and runs to the end; returns the types of the events, and the last event. */
export async function asks(agent: AgUiAgent, content: string, parameters: object = {}) {
  agent.addMessage({ id: `said-${messages++}`, role: "user", content })
  return runs(agent, parameters)
}

export async function runs(agent: AgUiAgent, parameters: object = {}) {
  const events: Told[] = []
  await agent.runAgent(parameters, { onEvent: ({ event }: { event: Told }) => void events.push(event) })
  return { events, types: events.map(({ type }) => type as string), last: events.at(-1) }
}

/** Opens its thread in the current state. */
export async function connects(agent: AgUiAgent) {
  const events: Told[] = []
  await agent.connectAgent({}, { onEvent: ({ event }: { event: Told }) => void events.push(event) })
  return { events, types: events.map(({ type }) => type as string), last: events.at(-1) }
}

/** Returns role and text of each message, in the format of an agent or of our own API. */
export const shownOf = (messages: readonly { role: string; content?: string }[]) =>
  messages.map(({ role, content }) => [role, content ?? ""])

/** Returns the error of a rejected promise. Silences the client, which also prints it. */
export async function failureOf(promise: Promise<unknown>): Promise<Told> {
  return promise.then(
    (answered) => Promise.reject(new Error(`it was answered: ${JSON.stringify(answered).slice(0, 200)}`)),
    (error: unknown) => error,
  )
}
