import type { EventOf } from "../protocol/events.ts"
import type { Part } from "../protocol/conversation/message.ts"
import type { SpanAttributes } from "./span.ts"

/** A longer text is cut: an attribute is no place for a book, and a batch has to fit into memory. */
const MAX_CHARACTERS = 20_000

const cut = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)

/** What was said, as the conventions for generative AI write messages. Only told where an operator has asked for it. */
export function messageContent({ role, parts, finish }: EventOf<"message">): SpanAttributes {
  const told = parts.flatMap(toPart)
  const message = { role, parts: told, ...(finish ? { finish_reason: finish } : {}) }
  return { [role === "user" ? "gen_ai.input.messages" : "gen_ai.output.messages"]: JSON.stringify([message]) }
}

function toPart(part: Part): object[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", content: cut(part.text) }]
    case "reasoning":
      return [{ type: "reasoning", content: cut(part.text) }]
    case "call":
      return [{ type: "tool_call", id: part.id, name: part.name, arguments: cut(JSON.stringify(part.input)) }]
  }
}

export function callContent(input: object | undefined, text: string): SpanAttributes {
  return {
    "gen_ai.tool.call.arguments": input === undefined ? undefined : cut(JSON.stringify(input)),
    "gen_ai.tool.call.result": cut(text),
  }
}
