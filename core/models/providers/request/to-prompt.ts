import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import { resendableParts } from "../../../engine/history/history.ts"
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

/**
 * Metadata that a provider returned with a call and expects back; stored with the model's name, because other models
 * must not see it.
 */
export interface CallMetadata {
  readonly model: string
  readonly providerOptions: SharedV4ProviderOptions
}

/** Converts a request for the adapters. `model` is our name of the recipient. */
export function toPrompt({ system, history }: ModelRequest, model: string): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system ? [{ role: "system", content: system }] : []
  for (const message of history) {
    const converted = toMessage(message, model)
    // Providers reject empty messages: one that had only another model's reasoning is left out.
    if (converted.content.length > 0) prompt.push(converted)
    // Behind the results and not in them: many providers take nothing but words there.
    if (message.role === "tool" && message.shown?.length)
      prompt.push({ role: "user", content: toUserContent({ role: "user", text: OF_RESULTS, shown: message.shown }) })
  }
  return prompt
}

const OF_RESULTS = "[These files belong to the results above. This is not a message of the user.]"

/**
 * Tools and tool choice. Tools are declared even with `none`, because some providers reject earlier calls without them.
 */
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
      return { role: "user", content: toUserContent(message) }
    case "assistant":
      return { role: "assistant", content: toReply(resendableParts(message.parts), model) }
    case "tool":
      return { role: "tool", content: message.results.map(toResult) }
  }
}

/** Files before the text about them. If all are text, they are joined into one, because some servers accept no list. */
function toUserContent({ text, shown = [] }: UserTurn): PersonContent {
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
      if (part.model !== model || isNotStored(part, parts)) return []
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
 * OpenAI stores nothing for us and needs its reasoning in encrypted form, which one of several blocks carries for all.
 * Reasoning without it would be rejected, with every later request.
 */
function isNotStored(part: ReasoningPart, parts: readonly Part[]): boolean {
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
  // Anthropic rejects an error without text.
  const value = status !== "ok" && text.trim() === "" ? "It gave no reason." : text
  return { type: "tool-result", toolCallId: callId, toolName: toToolName(name), output: { type, value } }
}

const withOptions = (providerOptions?: SharedV4ProviderOptions) => (providerOptions ? { providerOptions } : {})

// A model may invent a tool name. An invalid one such as `files.read` would make all later requests fail; Google also
// rejects names that start with a digit.
const toToolName = (name: string): string =>
  name
    .replaceAll(/[^a-zA-Z0-9_-]/g, "_")
    .replace(/^(?=[0-9-])/, "_")
    .slice(0, 64) || "unnamed"
