import { createHash } from "node:crypto"
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { ModelRequest } from "../../engine/model.ts"

/**
 * Deviations of a server from the common format. It would reject all further requests of a conversation, so they are
 * data of its provider.
 */
export interface Quirks {
  /** It reports usage, and rejects a request for it. */
  readonly countsUnasked?: boolean
  /** It rejects reasoning of earlier replies. */
  readonly forgetsThinking?: boolean
  /** Call ids must have nine letters and digits. */
  readonly shortCallIds?: boolean
  /** A user message must follow a reply, never a tool result. */
  readonly answersResults?: boolean
  /** Roles must alternate, so consecutive messages of one role are joined. */
  readonly takesTurns?: boolean
  /** It rejects blank tool results. */
  readonly refusesBlanks?: boolean
  /** It rejects two documents with one name, and most characters in names, so documents are numbered. */
  readonly numbersFiles?: boolean
  /** It has no tool choice `none` while tools are declared, and rejects earlier calls if no tools are. */
  readonly callsAtWill?: boolean
  /** Its reasoning is in the text, between `<think>` and `</think>`. */
  readonly thinksInTags?: boolean
  /** Its stream may have arguments that are not text, `function_call`, no choices, or no final blank line. */
  readonly writesLoosely?: boolean
}

/** Adapts a prompt to these quirks. Calls and results keep their order and pairs. */
export function withQuirks(prompt: LanguageModelV4Prompt, quirks: Quirks = {}): LanguageModelV4Prompt {
  const cleaned = quirks.refusesBlanks ? prompt.map(withoutBlanks) : prompt
  const numbered = quirks.numbersFiles ? cleaned.map(withoutFileNames) : cleaned
  const inTurns = quirks.takesTurns ? numbered.reduce(joinTurns, []) : numbered
  const turns = quirks.answersResults ? withAnswers(inTurns) : inTurns
  if (!quirks.forgetsThinking && !quirks.shortCallIds) return turns
  return turns.map((message) => adapted(message, quirks))
}

/**
 * Asks a model without the tool choice `none` in the prompt not to call tools. The caller drops calls that it makes
 * nevertheless; without tools it would not accept earlier calls and results.
 */
export function withoutToolChoiceNone(request: ModelRequest, { callsAtWill }: Quirks = {}): ModelRequest {
  if (!callsAtWill || request.toolChoice !== "none" || request.tools.length === 0) return request
  const system = [request.system, "Call no tool now: answer in words, with what you have."].filter(Boolean).join("\n\n")
  return { ...request, system, toolChoice: "auto" }
}

function withoutBlanks(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "tool") return message
  const content = message.content.map((part) => {
    if (part.type !== "tool-result" || part.output.type !== "text" || part.output.value.trim() !== "") return part
    return { ...part, output: { ...part.output, value: "It returned nothing." } }
  })
  return { ...message, content }
}

/** The line before each file has its name. */
function withoutFileNames(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user" || !message.content.some(({ type }) => type === "file")) return message
  const content = message.content.map((part) => {
    if (part.type !== "file") return part
    const { filename: _, ...file } = part
    return file
  })
  return { ...message, content }
}

/** Stands between a tool result and the next user message. */
const ANSWER: LanguageModelV4Message = { role: "assistant", content: [{ type: "text", text: "OK." }] }

function withAnswers(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message, at) =>
    message.role === "user" && prompt[at - 1]?.role === "tool" ? [ANSWER, message] : [message],
  )
}

/**
 * Appends a message, or joins it to the last one. User messages stay a single text, because chat templates accept no
 * list.
 */
function joinTurns(before: LanguageModelV4Prompt, message: LanguageModelV4Message): LanguageModelV4Prompt {
  const last = before.at(-1)
  if (last?.role === "user" && message.role === "user") {
    const content = [...last.content, ...message.content]
    if (content.some(({ type }) => type === "file")) return [...before.slice(0, -1), { ...last, content }]
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
    return [...before.slice(0, -1), { ...last, content: [{ type: "text", text: text.join("\n\n") }] }]
  }
  if (last?.role === "assistant" && message.role === "assistant")
    return [...before.slice(0, -1), { ...last, content: [...last.content, ...message.content] }]
  return [...before, message]
}

function adapted(message: LanguageModelV4Message, { forgetsThinking, shortCallIds }: Quirks): LanguageModelV4Message {
  if (message.role === "assistant") {
    const parts = forgetsThinking ? message.content.filter(({ type }) => type !== "reasoning") : message.content
    return { ...message, content: shortCallIds ? parts.map(withShortId) : parts }
  }
  if (message.role === "tool" && shortCallIds) return { ...message, content: message.content.map(withShortId) }
  return message
}

function withShortId<Content extends { readonly type: string }>(part: Content): Content {
  return "toolCallId" in part ? { ...part, toolCallId: shortId(String(part.toolCallId)) } : part
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/** The same id for the same call, in every request and after a restart. Collisions have a probability of 10^-16. */
function shortId(id: string): string {
  let rest = createHash("sha256").update(id).digest().readBigUInt64BE()
  let short = ""
  for (; short.length < 9; rest /= 62n) short += LETTERS[Number(rest % 62n)]
  return short
}
