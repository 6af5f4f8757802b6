import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import { missingAnswer } from "../../core/protocol/conversation/message.ts"
import type { ThreadFrame } from "../../core/protocol/dialects/threads.ts"

/**
 * What a run's frames are in the thread dialect. The chunks add up to `full_response`, unless a reply had to begin again:
 * the dialect cannot take a chunk back, so then only the end has it right.
 */
export class ThreadFrames {
  /** The replies that are whole. */
  #said = ""
  /** Of the reply that is being written. */
  #writing = ""
  /** The last reply. */
  #last: Frame<"message">["data"]["message"] | undefined

  translate(frame: Frame | UnknownFrame): ThreadFrame[] {
    const known = frame as Frame
    switch (known.type) {
      case "text_delta":
        return this.#chunk(known.data.text)
      case "message":
        return this.#message(known.data.message)
      case "restarted":
        this.#writing = ""
        return []
      case "tool_end":
        return [{ type: "tool_result", content: toContent(known.data) }]
      case "awaiting_confirmation":
        return this.#chunk(
          `Waiting for your decision: ${known.data.proposals.map(({ summary }) => summary).join("; ")}`,
        )
      case "error":
        return [{ type: "error", error: known.data.message }]
      case "done": {
        const reason = known.data.status === "completed" ? missingAnswer(this.#last) : undefined
        const more = reason === undefined ? [] : this.#chunk(reason)
        return [...more, { type: "end", full_response: this.#said + this.#writing }]
      }
      default:
        return []
    }
  }

  #message(message: Frame<"message">["data"]["message"]): ThreadFrame[] {
    const { role, content } = message
    if (role === "assistant") this.#last = message
    if (role === "assistant" && content !== "") this.#said += this.#gap() + content
    this.#writing = ""
    return []
  }

  /** Replies of one run stand apart, in the chunks and in the whole alike. */
  #chunk(text: string): ThreadFrame[] {
    const content = this.#writing === "" ? this.#gap() + text : text
    this.#writing += content
    return [{ type: "chunk", content }]
  }

  #gap(): string {
    return this.#said === "" ? "" : "\n\n"
  }
}

/** What a result shows: a chart with its spec as text, another view in snake_case, or the words themselves. */
function toContent({ data, text }: Frame<"tool_end">["data"]): unknown {
  if (typeof data !== "object" || data === null) return text
  const { kind, type = kind, spec, ...rest } = data as Record<string, unknown>
  const chart = spec === undefined ? {} : { spec: typeof spec === "string" ? spec : JSON.stringify(spec) }
  return { type, ...chart, ...snakeCase(rest) }
}

/** The names of an object's own fields; what they hold stays as it is. */
export function snakeCase(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const toSnake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnake(name), value]))
}
