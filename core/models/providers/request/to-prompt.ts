import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import { takenBack } from "../../../engine/history/history.ts"
import type {
  CallResult,
  HistoryMessage,
  ModelRequest,
  ShownFile,
  ToolDeclaration,
  UserTurn,
} from "../../../engine/model.ts"
import type { Part, ReasoningPart } from "../../../protocol/conversation/message.ts"

type PersonContent = Extract<LanguageModelV4Message, { role: "user" }>["content"]
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"]

/** What a provider returned with a call and wants back with it; kept with the model's name because nobody else may see it. */
export interface CallMetadata {
  readonly model: string
  readonly providerOptions: SharedV4ProviderOptions
}

/** A request in the words of the provider adapters. `model` is our name of the model that will read it. */
export function toPrompt({ system, history }: ModelRequest, model: string): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system ? [{ role: "system", content: system }] : []
  for (const message of history) {
    const converted = toMessage(message, model)
    // Providers refuse a message without content: one that held nothing but another model's thinking is left out.
    if (converted.content.length > 0) prompt.push(converted)
    // Behind the results and not in them: many providers take nothing but words there.
    if (message.role === "tool" && message.shown?.length)
      prompt.push({ role: "user", content: toWords({ role: "user", text: OF_RESULTS, shown: message.shown }) })
  }
  return prompt
}

const OF_RESULTS = "[These files belong to the results above. This is not a message of the user.]"

/** Tools and tool choice. Tools stay declared under `none`: some providers refuse a history of calls without them. */
export function toTools({ tools, toolChoice }: ModelRequest): Pick<LanguageModelV4CallOptions, "tools" | "toolChoice"> {
  if (tools.length === 0) return {}
  return { tools: tools.map(toFunctionTool), toolChoice: { type: toolChoice } }
}

function toFunctionTool({ name, description, inputSchema }: ToolDeclaration): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema }
}

function toMessage(message: HistoryMessage, model: string): LanguageModelV4Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: toWords(message) }
    case "assistant":
      return { role: "assistant", content: toReply(takenBack(message.parts), model) }
    case "tool":
      return { role: "tool", content: message.results.map(toResult) }
  }
}

/** Files before the words that are about them. Where all are words it is one text: some servers take no list of them. */
function toWords({ text, shown = [] }: UserTurn): PersonContent {
  if (shown.every(({ type }) => type === "words"))
    return [{ type: "text", text: [...shown.map((file) => file.text), text].join("\n\n") }]
  return [...shown.flatMap(toFile), { type: "text", text }]
}

function toFile(file: ShownFile): PersonContent {
  const words = { type: "text", text: file.text } as const
  if (file.type === "words") return [words]
  const { name, mediaType, bytes } = file
  return [words, { type: "file", filename: name, mediaType, data: { type: "data", data: bytes } }]
}

const toReply = (parts: readonly Part[], model: string): AssistantContent =>
  parts.flatMap((part) => toContent(part, parts, model))

function toContent(part: Part, parts: readonly Part[], model: string): AssistantContent {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }]
    case "reasoning":
      if (part.model !== model || isForgotten(part, parts)) return []
      return [{ type: "reasoning", text: part.text, ...withOptions(part.metadata as SharedV4ProviderOptions) }]
    case "call": {
      const metadata = part.metadata as CallMetadata | undefined
      const own = metadata?.model === model ? metadata.providerOptions : undefined
      return [
        {
          type: "tool-call",
          toolCallId: part.id,
          toolName: toToolName(part.name),
          input: part.input,
          ...withOptions(own),
        },
      ]
    }
  }
}

/**
 * OpenAI keeps nothing for us and knows its thinking again only in encrypted form, which one block of several carries
 * for all of them. Thinking that is named without it has the request refused, and every later one.
 */
function isForgotten(part: ReasoningPart, parts: readonly Part[]): boolean {
  const id = openaiItem(part)?.itemId
  if (id === undefined) return false
  const blocks = parts.flatMap((other) => (other.type === "reasoning" ? [openaiItem(other)] : []))
  return !blocks.some((block) => block?.itemId === id && block.reasoningEncryptedContent)
}

function openaiItem({ metadata }: ReasoningPart): { itemId?: string; reasoningEncryptedContent?: string } | undefined {
  return (metadata as SharedV4ProviderOptions | undefined)?.openai
}

function toResult({ callId, name, status, text }: CallResult): LanguageModelV4ToolResultPart {
  const type = status === "ok" ? "text" : "error-text"
  // Anthropic refuses an error without a word.
  const value = status !== "ok" && text.trim() === "" ? "It gave no reason." : text
  return { type: "tool-result", toolCallId: callId, toolName: toToolName(name), output: { type, value } }
}

const withOptions = (providerOptions?: SharedV4ProviderOptions) => (providerOptions ? { providerOptions } : {})

// A model may call a tool by a name it made up. Sent back as it was, `files.read` would have every later request refused;
// Google also refuses one that begins with a digit.
const toToolName = (name: string): string =>
  name
    .replaceAll(/[^a-zA-Z0-9_-]/g, "_")
    .replace(/^(?=[0-9-])/, "_")
    .slice(0, 64) || "unnamed"
