import { createRequire } from "node:module"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { Face } from "../support/server/face.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said, as the client reads it; tests look into it freely
type Told = any

export interface UiMessage {
  readonly id: string
  readonly role: string
  readonly metadata?: Told
  readonly parts: Told[]
}

/** The part of the official client that tests use. Its own types would slow every type check. */
export interface UiChat {
  readonly id: string
  readonly messages: UiMessage[]
  readonly lastMessage: UiMessage | undefined
  readonly status: "submitted" | "streaming" | "ready" | "error"
  readonly error: Error | undefined
  sendMessage(message?: object, options?: object): Promise<void>
  regenerate(options?: object): Promise<void>
  resumeStream(options?: object): Promise<void>
  readonly experimental_queuedMessages: readonly UiMessage[]
  experimental_sendQueuedMessageNow(id: string): Promise<void>
  stop(): Promise<void>
  addToolApprovalResponse(answer: { id: string; approved: boolean; reason?: string }): Promise<void>
  addToolOutput(result: ToolOutput): Promise<void>
}

export interface ToolOutput {
  readonly tool: string
  readonly toolCallId: string
  readonly state?: "output-available" | "output-error"
  readonly output?: unknown
  readonly errorText?: string
}

export interface TransportOptions {
  readonly api: string
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly fetch?: typeof fetch
  readonly prepareSendMessagesRequest?: (request: Told) => object
  readonly prepareReconnectToStreamRequest?: (request: Told) => object
}

interface Sdk {
  readonly AbstractChat: new (init: object) => UiChat
  readonly DefaultChatTransport: new (options: TransportOptions) => object
  readonly readUIMessageStream: (options: object) => AsyncIterable<UiMessage>
  readonly lastAssistantMessageIsCompleteWithApprovalResponses: (options: object) => boolean
  readonly lastAssistantMessageIsCompleteWithToolCalls: (options: object) => boolean
}

/** The official client from npm, as a page loads it. */
export const sdk = createRequire(import.meta.url)("ai") as Sdk

export interface ChatOptions {
  readonly id?: string
  readonly messages?: readonly UiMessage[]
  /** A transport, or the options for one. */
  readonly transport: Partial<TransportOptions> | object
  readonly onData?: (part: Told) => void
  readonly onToolCall?: (called: { readonly toolCall: Told }) => void
  /** Runs after each change of a message. */
  readonly onChange?: (chat: UiChat) => void
  readonly sendAutomaticallyWhen?: (options: object) => boolean
  readonly experimental_queue?: boolean
}

/** A chat of the official client with plain state, in place of React's. */
export class NodeChat extends sdk.AbstractChat {
  constructor({ transport, messages = [], onChange, ...init }: ChatOptions) {
    const changed = () => onChange?.(this as unknown as UiChat)
    const state = {
      ...{ status: "ready", error: undefined, messages: structuredClone([...messages]) },
      pushMessage(message: UiMessage) {
        state.messages = [...state.messages, message]
        changed()
      },
      popMessage() {
        state.messages = state.messages.slice(0, -1)
      },
      replaceMessage(index: number, message: UiMessage) {
        state.messages = state.messages.with(index, structuredClone(message))
        changed()
      },
      snapshot: <Value>(value: Value): Value => structuredClone(value),
    }
    super({
      ...init,
      state,
      transport: "sendMessages" in transport ? transport : madeWith(transport),
      generateId: () => crypto.randomUUID(),
    })
  }
}

const madeWith = (options: Partial<TransportOptions>) =>
  new sdk.DefaultChatTransport({ api: "http://localhost/ai-sdk", ...options })

export interface AiSdkPerson {
  readonly token: string
  /** Connects a page of this person to the server in this process. */
  readonly transport: Partial<TransportOptions>
  chat(options?: Omit<ChatOptions, "transport">): NodeChat
}

/** Creates a person whose page uses the AI SDK, against a server in this process. */
export async function aiSdkAs(face: Face, name: string, ...granted: Scope[]): Promise<AiSdkPerson> {
  const person = await face.store.people.ensure(name, Date.now())
  const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
  const { token } = await face.store.people.createToken(person, scopes, Date.now())
  const ask = ((url: string, init: RequestInit) => face.fetch(new Request(url, init))) as typeof fetch
  const transport = { headers: { authorization: `Bearer ${token}` }, body: { agent: "test" }, fetch: ask }
  return { token, transport, chat: (options = {}) => new NodeChat({ ...options, transport }) }
}

/** Returns a message without fields that only the client sets. */
export const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

export const textOf = (message: UiMessage | undefined): string =>
  (message?.parts ?? []).flatMap(({ type, text }) => (type === "text" ? [text as string] : [])).join("\n\n")
