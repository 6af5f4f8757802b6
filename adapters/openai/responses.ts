import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type {
  OutputCall,
  OutputItem,
  OutputMessage,
  ResponseAnswered,
  ResponseRequest,
} from "../../core/protocol/dialects/openai-responses.ts"
import { toResponseId } from "./requests.ts"
import type { AnswerHead } from "./chat.ts"
import type { AskedCall } from "./content.ts"
import { type RunPiece, RunReader } from "./run-reader.ts"

/** What of a request its response repeats. */
type Repeated = Pick<ResponseRequest, "instructions" | "temperature" | "parallel_tool_calls" | "previous_response_id">

/**
 * A run as a response: each of its replies is a message of the output. A reply that had to begin again is closed as
 * incomplete, and only the next one is in the whole.
 */
export class ResponseAnswer {
  readonly #head: AnswerHead
  readonly #request: Repeated
  readonly #reader: RunReader
  readonly #numbers = new EventNumbers()
  /** The number of the last event that its listener has. */
  readonly #after: number
  readonly #output: OutputItem[] = []
  /** The reply that is being written: how much of it was told. */
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
    const { instructions, temperature, parallel_tool_calls, previous_response_id } = this.#request
    const reason = this.#reader.finishReason === "length" ? "max_output_tokens" : "content_filter"
    return {
      id: toResponseId(this.#reader.runId, this.#head.part),
      object: "response",
      created_at: created,
      status: this.#status,
      error: this.#failed ?? null,
      incomplete_details: this.#status === "incomplete" ? { reason } : null,
      // Once, at the end: they may be long.
      instructions: this.isOver ? (instructions ?? null) : null,
      model,
      output: this.#output,
      parallel_tool_calls: parallel_tool_calls ?? true,
      previous_response_id: previous_response_id ?? null,
      conversation: { id: conversation },
      temperature: temperature ?? null,
      ...{ tool_choice: "auto", tools: [], top_p: null, metadata: {} },
      usage: toUsage(this.#reader),
      ...(this.#status === "completed" || this.#status === "incomplete" ? { pawl: this.#reader.beside } : {}),
    }
  }

  #take(piece: RunPiece): string[] {
    switch (piece.type) {
      case "began":
        return ["response.created", "response.in_progress"].flatMap((type) => this.#lifecycle(type))
      case "text":
        return this.#say(piece.text)
      case "taken_back":
        // Told again it has no text, and is an item all the same: those behind it keep their places.
        return [...(this.#open ? [] : this.#begin()), ...this.#takeBack()]
      case "reply":
        return this.#open ? this.#close("completed") : [...this.#say(piece.text), ...this.#close("completed")]
      case "waits":
        return [...this.#say(piece.text), ...this.#close("completed")]
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

  #say(delta: string): string[] {
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

  #call({ id, name, arguments: given }: AskedCall): string[] {
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
    const begun: OutputCall = { ...item, arguments: "", status: "in_progress" }
    return [
      ...this.#event("response.output_item.added", { output_index, item: begun }),
      ...this.#event("response.function_call_arguments.delta", { item_id, output_index, delta: given }),
      ...this.#event("response.function_call_arguments.done", { item_id, output_index, name, arguments: given }),
      ...this.#event("response.output_item.done", { output_index, item }),
    ]
  }

  #lifecycle(type: string): string[] {
    return this.#event(type, { response: this.toResponse() })
  }

  #event(type: string, fields: object): string[] {
    return this.#tell(this.#numbers.next(), type, fields)
  }

  /** Whoever has some of the text gets the rest. */
  #delta(place: object, text: string): string[] {
    const number = this.#numbers.next(text.length)
    const known = Math.max(0, this.#after - (number - text.length))
    return this.#tell(number, "response.output_text.delta", { ...place, delta: text.slice(known), logprobs: [] })
  }

  #tell(sequence_number: number, type: string, fields: object): string[] {
    if (sequence_number <= this.#after) return []
    return [`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`]
  }
}

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

/** Numbers between two times that a reply begins anew: more than a reply has characters. */
const ROOM = 2 ** 26
/** Events that close what is taken back. */
const CLOSING = 3

/**
 * The numbers of a response's events. They follow from the journal alone, however the text came in pieces: each event
 * counts one, and text as many as it has characters. So whoever was told up to a number can be told on from there.
 *
 * What is taken back is not in the journal, so what follows it is counted anew, from a round number; the events that close
 * it have the last ones before that.
 */
export class EventNumbers {
  #last = -1
  #resendableParts = 0

  next(length = 1): number {
    return (this.#last += length)
  }

  /** What was told last does not count; the events that close it follow, unless nothing is open. */
  takeBack({ closes }: { readonly closes: boolean }): void {
    this.#resendableParts++
    this.#last = this.#resendableParts * ROOM - (closes ? CLOSING : 0) - 1
  }
}
