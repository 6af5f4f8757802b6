import type { ChatCompletion, ChatUsage } from "../../core/adapter.ts"
import type { ConversationId, Frame, UnknownFrame } from "../../core/protocol/index.ts"
import { toRunError } from "./errors.ts"
import { type DelegatedToolCall, toToolCall } from "./content.ts"
import { type RunPiece, RunReader } from "./run-reader.ts"

export interface AnswerHead {
  /** As the caller named it. */
  readonly model: string
  readonly conversation: ConversationId
  /** Seconds since 1970. */
  readonly created: number
  /** Only the reply that fits the request's schema is the answer. */
  readonly hasToFit?: boolean
  /** The position from which a run continues with the caller's results, which makes the id unique. */
  readonly part?: number
}

/**
 * A run as a chat completion: the replies of all steps, separated by blank lines. Chunks add up to the same text, unless a
 * reply was restarted: a chunk cannot be removed.
 */
export class ChatAnswer {
  readonly #head: AnswerHead
  readonly #reader: RunReader
  readonly #tellsUsage: boolean
  #whole: string[] = []
  #calls: readonly DelegatedToolCall[] = []
  #failed: { code: string; message: string } | undefined
  #over = false
  /** Whether chunks were sent, and whether the next text starts a reply. */
  #hasSent = false
  #fresh = true

  constructor(head: AnswerHead, { tellsUsage = false } = {}) {
    this.#head = head
    this.#reader = new RunReader(head.conversation, head)
    this.#tellsUsage = tellsUsage
  }

  /** The `data:` lines of a frame. */
  translate(frame: Frame | UnknownFrame): string[] {
    return this.#reader.read(frame).flatMap((piece) => this.#take(piece))
  }

  get isOver(): boolean {
    return this.#over
  }

  get failed(): { readonly code: string; readonly message: string } | undefined {
    return this.#failed
  }

  toCompletion(): ChatCompletion {
    const { model, created } = this.#head
    const tool_calls = this.#calls.map(toToolCall)
    const called = tool_calls.length > 0 ? { tool_calls } : {}
    const content = this.#whole.length === 0 && tool_calls.length > 0 ? null : this.#whole.join(GAP)
    const message = { role: "assistant", content, refusal: null, ...called } as const
    const usage = toUsage(this.#reader)
    return {
      id: this.#id,
      object: "chat.completion",
      created,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#reader.finishReason }],
      ...(usage ? { usage } : {}),
      pawl: this.#reader.beside,
    }
  }

  #take(piece: RunPiece): string[] {
    switch (piece.type) {
      case "began":
        return [this.#chunk({ role: "assistant", content: "" })]
      case "text":
        return [this.#addText(piece.text)]
      case "taken_back":
        this.#fresh = true
        return []
      case "reply":
        this.#whole.push(piece.text)
        this.#fresh = true
        return []
      case "waits":
        this.#whole.push(piece.text)
        return [this.#addText(piece.text)]
      case "calls":
        this.#calls = piece.calls
        return piece.calls.map((call, index) => this.#chunk({ tool_calls: [{ index, ...toToolCall(call) }] }))
      case "ended":
        return this.#end()
      case "failed":
        this.#over = true
        this.#failed = piece.error
        return [toData(toRunError(piece.error))]
    }
  }

  /** Replies are separated by blank lines. */
  #addText(text: string): string {
    const content = this.#fresh && this.#hasSent ? GAP + text : text
    this.#hasSent = true
    this.#fresh = false
    return this.#chunk({ content })
  }

  #end(): string[] {
    this.#over = true
    const last = this.#chunk({}, this.#reader.finishReason, { pawl: this.#reader.beside })
    const usage = this.#tellsUsage && toUsage(this.#reader)
    const usageChunk = usage ? [toData({ ...this.#chunkHead, choices: [], usage })] : []
    return [last, ...usageChunk, "data: [DONE]\n\n"]
  }

  #chunk(delta: object, finish_reason: string | null = null, beside: object = {}): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
    const usage = this.#tellsUsage ? { usage: null } : {}
    return toData({ ...this.#chunkHead, choices, ...usage, ...beside })
  }

  get #chunkHead() {
    const { model, created } = this.#head
    return { id: this.#id, object: "chat.completion.chunk", created, model }
  }

  get #id(): string {
    return `chatcmpl-${this.#reader.runId}`
  }
}

const GAP = "\n\n"

const toData = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

function toUsage({ tokens }: RunReader): ChatUsage | undefined {
  if (!tokens) return undefined
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cached },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  }
}
