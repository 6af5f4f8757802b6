import type { OutputCall, OutputItem, OutputMessage, ResponseAnswered, ResponseRequest } from "../../core/adapter.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/index.ts"
import { toResponseId } from "./requests.ts"
import type { AnswerHead } from "./chat.ts"
import type { DelegatedToolCall } from "./content.ts"
import { type RunPiece, RunReader } from "./run-reader.ts"

/** The request's fields that a response repeats. */
type Repeated = Pick<
  ResponseRequest,
  | "background"
  | "instructions"
  | "max_output_tokens"
  | "parallel_tool_calls"
  | "previous_response_id"
  | "reasoning"
  | "temperature"
  | "text"
>

/**
 * A run as a response: each reply is a message of the output. A restarted reply is closed as incomplete and is not part of
 * the final output.
 */
export class ResponseAnswer {
  readonly #head: AnswerHead
  readonly #request: Repeated
  readonly #reader: RunReader
  readonly #numbers = new EventNumbers()
  /** The number of the last event that the client has. */
  readonly #after: number
  readonly #output: OutputItem[] = []
  /** The open reply and its sent text. */
  #open: { readonly id: string; readonly index: number; text: string } | undefined
  #items = 0
  #status: ResponseAnswered["status"] = "in_progress"
  #failed: { readonly code: string; readonly message: string } | undefined

  constructor(head: AnswerHead, request: Repeated, { after = -1 } = {}) {
    this.#head = head
    this.#request = request
    this.#after = after
    this.#reader = new RunReader(head.conversation, head)
  }

  /** The server-sent events of a frame. */
  translate(frame: Frame | UnknownFrame): string[] {
    return this.#reader.read(frame).flatMap((piece) => this.#take(piece))
  }

  get isOver(): boolean {
    return this.#status !== "in_progress"
  }

  get failed(): { readonly code: string; readonly message: string } | undefined {
    return this.#failed
  }

  toResponse(): ResponseAnswered {
    const { model, created, conversation } = this.#head
    const { instructions, temperature, parallel_tool_calls, previous_response_id, ...request } = this.#request
    const reason = this.#reader.finishReason === "length" ? "max_output_tokens" : "content_filter"
    return {
      id: toResponseId(this.#reader.runId, this.#head.part),
      object: "response",
      created_at: created,
      completed_at: this.#status === "completed" ? (this.#reader.repliedAt ?? created) : null,
      status: this.#status,
      error: this.#failed ?? null,
      incomplete_details: this.#status === "incomplete" ? { reason } : null,
      // Once, at the end, because they may be long.
      instructions: this.isOver ? (instructions ?? null) : null,
      text: { format: (this.isOver && request.text?.format) || { type: "text" } },
      model,
      output: this.#output,
      parallel_tool_calls: parallel_tool_calls ?? true,
      previous_response_id: previous_response_id ?? null,
      conversation: { id: conversation },
      background: request.background ?? false,
      max_output_tokens: request.max_output_tokens ?? null,
      reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
      store: true,
      temperature: temperature ?? 1,
      ...UNUSED,
      usage: toUsage(this.#reader),
      ...(this.#status === "completed" || this.#status === "incomplete" ? { pawl: this.#reader.beside } : {}),
    }
  }

  #take(piece: RunPiece): string[] {
    switch (piece.type) {
      case "began":
        return ["response.created", "response.in_progress"].flatMap((type) => this.#lifecycle(type))
      case "text":
        return this.#addText(piece.text)
      case "taken_back":
        // A dropped reply has no text when it is read again, but still occupies a position.
        return [...(this.#open ? [] : this.#begin()), ...this.#takeBack()]
      case "reply":
        return this.#open ? this.#close("completed") : [...this.#addText(piece.text), ...this.#close("completed")]
      case "waits":
        return [...this.#addText(piece.text), ...this.#close("completed")]
      case "calls":
        return [...this.#close("incomplete"), ...piece.calls.flatMap((call) => this.#call(call))]
      case "ended":
        this.#status = DONE.has(this.#reader.finishReason) ? "completed" : "incomplete"
        return [...this.#close("incomplete"), ...this.#lifecycle(`response.${this.#status}`)]
      case "failed":
        this.#status = "failed"
        this.#failed = { code: piece.error.code, message: piece.error.message }
        return [...this.#takeBack(), ...this.#lifecycle("response.failed")]
    }
  }

  #addText(delta: string): string[] {
    const opening = this.#open ? [] : this.#begin()
    const open = this.#open!
    open.text += delta
    return [...opening, ...this.#delta(placeOf(open), delta)]
  }

  #begin(): string[] {
    const index = this.#items++
    const open = { id: `msg_${this.#reader.runId.slice("run_".length)}_${index}`, index, text: "" }
    this.#open = open
    const item = { ...toItem(open, "in_progress"), content: [] }
    return [
      ...this.#event("response.output_item.added", { output_index: index, item }),
      ...this.#event("response.content_part.added", { ...placeOf(open), part: toPart("") }),
    ]
  }

  #takeBack(): string[] {
    this.#numbers.takeBack({ closes: this.#open !== undefined })
    return this.#close("incomplete")
  }

  #close(status: "completed" | "incomplete"): string[] {
    const open = this.#open
    if (!open) return []
    this.#open = undefined
    const item = toItem(open, status)
    if (status === "completed") this.#output.push(item)
    return [
      ...this.#event("response.output_text.done", { ...placeOf(open), text: open.text, logprobs: [] }),
      ...this.#event("response.content_part.done", { ...placeOf(open), part: toPart(open.text) }),
      ...this.#event("response.output_item.done", { output_index: open.index, item }),
    ]
  }

  #call({ id, name, arguments: given }: DelegatedToolCall): string[] {
    const output_index = this.#items++
    const item_id = `fc_${this.#reader.runId.slice("run_".length)}_${output_index}`
    const item = {
      id: item_id,
      type: "function_call",
      call_id: id,
      name,
      arguments: given,
      status: "completed",
    } as const
    this.#output.push(item)
    const started: OutputCall = { ...item, arguments: "", status: "in_progress" }
    return [
      ...this.#event("response.output_item.added", { output_index, item: started }),
      ...this.#event("response.function_call_arguments.delta", { item_id, output_index, delta: given }),
      ...this.#event("response.function_call_arguments.done", { item_id, output_index, name, arguments: given }),
      ...this.#event("response.output_item.done", { output_index, item }),
    ]
  }

  #lifecycle(type: string): string[] {
    return this.#event(type, { response: this.toResponse() })
  }

  #event(type: string, fields: object): string[] {
    return this.#notify(this.#numbers.next(), type, fields)
  }

  /** A client with part of the text gets the rest. */
  #delta(place: object, text: string): string[] {
    const number = this.#numbers.next(text.length)
    const known = Math.max(0, this.#after - (number - text.length))
    return this.#notify(number, "response.output_text.delta", { ...place, delta: text.slice(known), logprobs: [] })
  }

  #notify(sequence_number: number, type: string, fields: object): string[] {
    if (sequence_number <= this.#after) return []
    return [`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`]
  }
}

/** Required by Open Responses. */
const UNUSED = {
  ...{ top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, max_tool_calls: null },
  ...{ tool_choice: "auto", tools: [], truncation: "disabled", service_tier: "default" },
  ...{ safety_identifier: null, prompt_cache_key: null, metadata: {} },
} as const satisfies Partial<ResponseAnswered>

const DONE: ReadonlySet<string> = new Set(["stop", "tool_calls"])

interface Place {
  readonly id: string
  readonly index: number
}

const placeOf = ({ id, index }: Place) => ({ item_id: id, output_index: index, content_index: 0 })

const toPart = (text: string) => ({ type: "output_text" as const, text, annotations: [] })

const toItem = ({ id, text }: Place & { readonly text: string }, status: OutputMessage["status"]): OutputMessage => ({
  ...{ id, type: "message", role: "assistant", status, content: [toPart(text)] },
})

function toUsage({ tokens }: RunReader): ResponseAnswered["usage"] {
  if (!tokens) return null
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cached },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  }
}

/** The distance of event numbers between two restarts of a reply: more than a reply has characters. */
const ROOM = 2 ** 26
/** The events that close a dropped reply. */
const CLOSING = 3

/**
 * Numbers the events of a response. The numbers depend on the journal only, not on how text was split: an event counts one,
 * text counts its characters. So a client can continue from any number.
 *
 * A dropped reply is not in the journal, so numbering continues at the next multiple of `ROOM` after it; the events that
 * close it have the last numbers before that.
 */
class EventNumbers {
  #last = -1
  #resendableParts = 0

  next(length = 1): number {
    return (this.#last += length)
  }

  /** Skips to the next multiple, leaving room for closing events if something is open. */
  takeBack({ closes }: { readonly closes: boolean }): void {
    this.#resendableParts++
    this.#last = this.#resendableParts * ROOM - (closes ? CLOSING : 0) - 1
  }
}
