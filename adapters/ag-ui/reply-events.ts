import { type AgUiMessage, clientNameOf } from "../../core/adapter.ts"
import type { Frame, Message } from "../../core/protocol/index.ts"

/** An event as it is sent. */
export const toData = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** The reply in progress: its open messages and their sent text. */
export class ReplyEvents {
  #text: { readonly id: string; told: string } | undefined
  #thought: { readonly id: string; told: string } | undefined
  #shownThoughts: AgUiMessage[] = []
  /** The length of the sent reasoning, and the number of its messages. */
  #reasoningSent = 0
  #thoughts = 0
  /** Something was sent that a snapshot would have to remove. */
  #hasText = false

  say(text: string, cursor: string): string[] {
    const closing = this.#endThought()
    const opening = this.#text ? [] : this.#begin(cursor)
    const open = this.#text!
    open.told += text
    return [...closing, ...opening, toData({ type: "TEXT_MESSAGE_CONTENT", messageId: open.id, delta: text })]
  }

  /** Sends reasoning. It may be repeated from its beginning; known text is skipped. */
  think({ text, offset }: Pick<Frame<"reasoning_delta">["data"], "text" | "offset">, cursor: string): string[] {
    const delta = text.slice(Math.max(0, this.#reasoningSent - (offset - text.length)))
    if (delta === "") return []
    this.#reasoningSent = offset
    this.#hasText = true
    const opening = this.#thought ? [] : this.#beginReasoning(cursor)
    const open = this.#thought!
    open.told += delta
    return [...opening, toData({ type: "REASONING_MESSAGE_CONTENT", messageId: open.id, delta })]
  }

  /** Ends the reply: closes its messages, sends its calls, and returns what a frontend shows of it. */
  end(
    { content, toolCalls }: Pick<Message, "content" | "toolCalls">,
    cursor: string,
  ): { readonly lines: string[]; readonly shown: AgUiMessage[] } {
    const id = this.#text?.id ?? replyId(cursor, -1)
    const calls = (toolCalls ?? []).map(({ id, name, input }) => ({
      ...{ id, name: clientNameOf(name) ?? name, arguments: JSON.stringify(input) },
    }))
    const lines = [...this.close(), ...calls.flatMap((call) => callEvents(id, call))]
    const thoughts = this.#shownThoughts
    this.#reset()
    if (content === "" && calls.length === 0) return { lines, shown: thoughts }
    const made = calls.map((call) => ({
      ...{ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } },
    }))
    const reply = { id, role: "assistant", content, ...(made.length > 0 ? { toolCalls: made } : {}) }
    return { lines, shown: [...thoughts, reply] }
  }

  close(): string[] {
    const text = this.#text ? [toData({ type: "TEXT_MESSAGE_END", messageId: this.#text.id })] : []
    this.#text = undefined
    return [...this.#endThought(), ...text]
  }

  /** Drops the reply. Returns whether anything was sent. */
  drop(): boolean {
    const said = this.#hasText
    this.#reset()
    return said
  }

  #reset(): void {
    this.#reasoningSent = 0
    this.#thoughts = 0
    this.#shownThoughts = []
    this.#hasText = false
  }

  #begin(cursor: string): string[] {
    this.#hasText = true
    this.#text = { id: replyId(cursor), told: "" }
    return [toData({ type: "TEXT_MESSAGE_START", messageId: this.#text.id, role: "assistant" })]
  }

  #beginReasoning(cursor: string): string[] {
    const id = `thought_${placeOf(cursor)}_${this.#thoughts++}`
    this.#thought = { id, told: "" }
    return [
      toData({ type: "REASONING_START", messageId: id }),
      toData({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" }),
    ]
  }

  #endThought(): string[] {
    const thought = this.#thought
    this.#thought = undefined
    if (!thought) return []
    this.#shownThoughts.push({ id: thought.id, role: "reasoning", content: thought.told })
    return ["REASONING_MESSAGE_END", "REASONING_END"].map((type) => toData({ type, messageId: thought.id }))
  }
}

function callEvents(
  parentMessageId: string,
  { id: toolCallId, name: toolCallName, arguments: delta }: { id: string; name: string; arguments: string },
): string[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId },
    { type: "TOOL_CALL_ARGS", toolCallId, delta },
    { type: "TOOL_CALL_END", toolCallId },
  ].map(toData)
}

/** A reply is named after the previous event, because its own id is known only at its end. */
const replyId = (cursor: string, index = 0): string => `reply_${placeOf(cursor) + index}`

const placeOf = (cursor: string): number => Number.parseInt(cursor, 10)
