import type { ThreadFrame } from "../../core/adapter.ts"
import { type Frame, missingAnswer, type UnknownFrame } from "../../core/protocol/index.ts"

/**
 * Converts a run to frames of the thread API. The chunks add up to `full_response`, unless a reply was restarted: a chunk
 * cannot be removed, so only the end is right then.
 */
export class ThreadFrames {
  /** The finished replies. */
  #said = ""
  /** The reply in progress. */
  #writing = ""
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

  /** Replies are separated by blank lines, in chunks and in the whole. */
  #chunk(text: string): ThreadFrame[] {
    const content = this.#writing === "" ? this.#gap() + text : text
    this.#writing += content
    return [{ type: "chunk", content }]
  }

  #gap(): string {
    return this.#said === "" ? "" : "\n\n"
  }
}

/** A result's view: a chart with its spec as text, another view in snake_case, or the text. */
function toContent({ data, text }: Frame<"tool_end">["data"]): unknown {
  if (typeof data !== "object" || data === null) return text
  const { kind, type = kind, spec, ...rest } = data as Record<string, unknown>
  const chart = spec === undefined ? {} : { spec: typeof spec === "string" ? spec : JSON.stringify(spec) }
  return { type, ...chart, ...snakeCase(rest) }
}

/** Converts the names of an object's own fields; their values stay. */
function snakeCase(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const toSnake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnake(name), value]))
}
