import { createHash } from "node:crypto"
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { ModelRequest } from "../../engine/model.ts"

/**
 * Where one that speaks a common dialect is stricter than the others. What it would refuse is refused for good, with every
 * later request of that conversation, so each of these is data of its line in the list.
 */
export interface Quirks {
  /** It tells how many tokens a reply took, and refuses to be asked for it. */
  readonly countsUnasked?: boolean
  /** It refuses thinking that is given back to it. */
  readonly forgetsThinking?: boolean
  /** Ids of calls have nine letters and digits. */
  readonly shortCallIds?: boolean
  /** A person may speak only after the model, never right after the result of a call. */
  readonly answersResults?: boolean
  /** It wants person and model to take turns: what one of them said twice in a row becomes one message. */
  readonly takesTurns?: boolean
  /** It refuses the result of a call that says nothing. */
  readonly refusesBlanks?: boolean
  /** It refuses two documents of one name, in whatever messages, and most signs in a name: there they go without, and are numbered. */
  readonly numbersFiles?: boolean
  /** It cannot be told to call nothing while tools are declared, and takes no call back where none is. */
  readonly callsAtWill?: boolean
  /** What it thinks stands between `<think>` and `</think>` before its words. */
  readonly thinksInTags?: boolean
  /** Its stream has arguments that are no text, `function_call`, no choices at all, or no blank line at its end. */
  readonly writesLoosely?: boolean
}

/** A prompt as a server with these quirks takes it. Calls and results keep their order, and each its partner. */
export function withQuirks(prompt: LanguageModelV4Prompt, quirks: Quirks = {}): LanguageModelV4Prompt {
  const said = quirks.refusesBlanks ? prompt.map(withoutBlanks) : prompt
  const numbered = quirks.numbersFiles ? said.map(withoutFileNames) : said
  const inTurns = quirks.takesTurns ? numbered.reduce(joined, []) : numbered
  const turns = quirks.answersResults ? answered(inTurns) : inTurns
  if (!quirks.forgetsThinking && !quirks.shortCallIds) return turns
  return turns.map((message) => bent(message, quirks))
}

/**
 * A request to one that calls at will: it is asked in words to call nothing. What it calls all the same is dropped by
 * whoever asked; without its tools it would be shown neither the calls so far nor what came of them.
 */
export function withoutBan(request: ModelRequest, { callsAtWill }: Quirks = {}): ModelRequest {
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

/** The line before each file says what it is called. */
function withoutFileNames(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user" || !message.content.some(({ type }) => type === "file")) return message
  const content = message.content.map((part) => {
    if (part.type !== "file") return part
    const { filename: _, ...file } = part
    return file
  })
  return { ...message, content }
}

/** What stands between the result of a call and the words of a person who did not wait for an answer. */
const ANSWER: LanguageModelV4Message = { role: "assistant", content: [{ type: "text", text: "OK." }] }

function answered(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message, at) =>
    message.role === "user" && prompt[at - 1]?.role === "tool" ? [ANSWER, message] : [message],
  )
}

/** A message more, or the last one longer. Of a person it stays a single text, because templates take no list of them. */
function joined(before: LanguageModelV4Prompt, message: LanguageModelV4Message): LanguageModelV4Prompt {
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

function bent(message: LanguageModelV4Message, { forgetsThinking, shortCallIds }: Quirks): LanguageModelV4Message {
  if (message.role === "assistant") {
    const kept = forgetsThinking ? message.content.filter(({ type }) => type !== "reasoning") : message.content
    return { ...message, content: shortCallIds ? kept.map(withShortId) : kept }
  }
  if (message.role === "tool" && shortCallIds) return { ...message, content: message.content.map(withShortId) }
  return message
}

function withShortId<Content extends { readonly type: string }>(part: Content): Content {
  return "toolCallId" in part ? { ...part, toolCallId: shortId(String(part.toolCallId)) } : part
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/** The same id for the same call, in every request and after a restart; of another one there is no second in 10^16. */
function shortId(id: string): string {
  let rest = createHash("sha256").update(id).digest().readBigUInt64BE()
  let short = ""
  for (; short.length < 9; rest /= 62n) short += LETTERS[Number(rest % 62n)]
  return short
}
