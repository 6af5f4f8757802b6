import type { AgUiMessage } from "../../core/protocol/dialects/ag-ui.ts"
import { clientNameOf } from "../../core/protocol/conversation/tool-calls.ts"
import type { Message } from "../../core/protocol/conversation/message.ts"
import type { Frame } from "../../core/protocol/frames.ts"

/** One event as it goes out. */
export const toData = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** The reply that is being written: which of its messages are open, and how much of it was told. */
export class ReplyEvents {
  #text: { readonly id: string; told: string } | undefined
  #thought: { readonly id: string; told: string } | undefined
  /** Those that are closed. */
  #shownThoughts: AgUiMessage[] = []
  /** How much of its thinking was told, and in how many messages. */
  #thoughtTold = 0
  #thoughts = 0
  /** It has told something that a snapshot would have to take back. */
  #said = false

  say(text: string, cursor: string): string[] {
    const closing = this.#endThought()
    const opening = this.#text ? [] : this.#begin(cursor)
    const open = this.#text!
    open.told += text
    return [...closing, ...opening, toData({ type: "TEXT_MESSAGE_CONTENT", messageId: open.id, delta: text })]
  }

  /** More of what its model thinks. It may come again from its beginning: what was told is not told twice. */
  think({ text, offset }: Pick<Frame<"reasoning_delta">["data"], "text" | "offset">, cursor: string): string[] {
    const delta = text.slice(Math.max(0, this.#thoughtTold - (offset - text.length)))
    if (delta === "") return []
    this.#thoughtTold = offset
    this.#said = true
    const opening = this.#thought ? [] : this.#beginThought(cursor)
    const open = this.#thought!
    open.told += delta
    return [...opening, toData({ type: "REASONING_MESSAGE_CONTENT", messageId: open.id, delta })]
  }

  /** The reply is whole: closes it, tells its calls, and gives what a frontend shows of it now. */
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

  /** Forgets what was told of it; whether that was anything. */
  drop(): boolean {
    const said = this.#said
    this.#reset()
    return said
  }

  #reset(): void {
    this.#thoughtTold = 0
    this.#thoughts = 0
    this.#shownThoughts = []
    this.#said = false
  }

  #begin(cursor: string): string[] {
    this.#said = true
    this.#text = { id: replyId(cursor), told: "" }
    return [toData({ type: "TEXT_MESSAGE_START", messageId: this.#text.id, role: "assistant" })]
  }

  #beginThought(cursor: string): string[] {
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

/** A reply is named after the row that it follows: its own id is known only when it is whole. */
const replyId = (cursor: string, beside = 0): string => `reply_${placeOf(cursor) + beside}`

const placeOf = (cursor: string): number => Number.parseInt(cursor, 10)
