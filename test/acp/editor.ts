import { writeFileSync } from "node:fs"
import {
  client,
  type ClientCapabilities,
  type ClientConnection,
  type InitializeResponse,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"

/** A permission request to the person at the editor. */
export interface Question {
  readonly request: RequestPermissionRequest
  isWithdrawn: boolean
  answer(optionId: string): void
  /** Cancels, as editors do when the person stops the turn. */
  cancel(): void
}

export interface EditorSideOptions {
  readonly can?: ClientCapabilities
  /** Open files by absolute path, saved or not. */
  readonly buffers?: Map<string, string>
  /** Writes through the editor are saved to disk. */
  readonly saves?: true
  /** Never answers a write. */
  readonly fallsSilent?: true
  /** The answer to every permission request. */
  readonly always?: string
}

/** The editor side of the official package, at one end of a byte stream. It records its updates and questions. */
export class EditorSide {
  readonly updates: SessionNotification[] = []
  readonly questions: Question[] = []
  readonly reads: string[] = []
  readonly writes: { readonly path: string; readonly content: string }[] = []
  readonly connection: ClientConnection
  readonly #options: EditorSideOptions
  readonly #output: WritableStream<Uint8Array>
  readonly #waiting = new Set<() => void>()

  constructor(output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>, options: EditorSideOptions = {}) {
    this.#options = options
    this.#output = output
    const { buffers = new Map<string, string>() } = options
    this.connection = client({ name: "test editor" })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params)
        this.#heard()
      })
      .onRequest("session/request_permission", ({ params, signal }) => this.#ask(params, signal))
      .onRequest("fs/read_text_file", ({ params: { path } }) => {
        this.reads.push(path)
        const content = buffers.get(path)
        if (content === undefined) throw new Error("There is no such buffer.")
        return { content }
      })
      .onRequest("fs/write_text_file", ({ params: { path, content } }) => {
        this.writes.push({ path, content })
        this.#heard()
        if (options.fallsSilent) return new Promise<never>(() => {})
        buffers.set(path, content)
        if (options.saves) writeFileSync(path, content)
        return {}
      })
      .connect(ndJsonStream(output, input))
  }

  get agent() {
    return this.connection.agent
  }

  /** Disconnects as after a crash: sends nothing more and answers no request. */
  hangUp(): Promise<void> {
    return this.#output.close()
  }

  initialize(): Promise<InitializeResponse> {
    const clientCapabilities = this.#options.can ?? {}
    return this.agent.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities })
  }

  begin(cwd: string): Promise<NewSessionResponse> {
    return this.agent.request("session/new", { cwd, mcpServers: [] })
  }

  load(sessionId: string, cwd: string) {
    return this.agent.request("session/load", { sessionId, cwd, mcpServers: [] })
  }

  say(sessionId: string, text: string): Promise<PromptResponse> {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
  }

  /** Returns the updates of one conversation, starting at an index. */
  told(sessionId: string, from = 0): SessionUpdate[] {
    return this.updates.slice(from).flatMap((each) => (each.sessionId === sessionId ? [each.update] : []))
  }

  /** Returns the concatenated text of all updates of one kind. */
  words(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk", from = 0): string {
    const chunks = this.updates.slice(from).map(({ update }) => update)
    return chunks
      .flatMap((update) =>
        update.sessionUpdate === kind && update.content.type === "text" ? [update.content.text] : [],
      )
      .join("")
  }

  /** Resolves when `look` returns a value; checks again after each message received. */
  async until<Value>(look: () => Value | undefined | false): Promise<Value> {
    for (;;) {
      const found = look()
      if (found) return found
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.add(resolve)),
        this.connection.closed.then(() => Promise.reject(new Error("The connection was closed."))),
      ])
    }
  }

  question(index: number): Promise<Question> {
    return this.until(() => this.questions[index])
  }

  #ask(request: RequestPermissionRequest, signal: AbortSignal): Promise<{ outcome: RequestPermissionOutcome }> {
    const { always } = this.#options
    const answered = Promise.withResolvers<{ outcome: RequestPermissionOutcome }>()
    const question: Question = {
      request,
      isWithdrawn: false,
      answer: (optionId) => answered.resolve({ outcome: { outcome: "selected", optionId } }),
      cancel: () => answered.resolve({ outcome: { outcome: "cancelled" } }),
    }
    signal.addEventListener("abort", () => {
      question.isWithdrawn = true
      question.cancel()
      this.#heard()
    })
    this.questions.push(question)
    if (always !== undefined) question.answer(always)
    this.#heard()
    return answered.promise
  }

  #heard(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
