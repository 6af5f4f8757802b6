import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import { type GuideMessage, guideReply } from "./script.ts"

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function toMessage({ role, content }: LanguageModelV4Message): GuideMessage {
  const part = role === "user" ? content.at(-1) : undefined
  return { ...(part?.type === "text" ? { user: part.text } : {}), isReply: role === "assistant" }
}

function replyTo({ prompt, tools = [] }: LanguageModelV4CallOptions) {
  const reply = guideReply(prompt.map(toMessage))
  const finish = (unified: "stop" | "tool-calls") => ({ finishReason: { unified, raw: undefined }, usage })
  if ("text" in reply) return { ...finish("stop"), content: { type: "text" as const, text: reply.text } }
  // Mastra names the tool of another agent itself, and its argument.
  const ofAgent = tools.find(({ name }) => name === "agent-clerk")
  const input = JSON.stringify(ofAgent && "task" in reply.input ? { prompt: reply.input.task } : reply.input)
  const call = { toolCallId: `call_${prompt.length}`, toolName: ofAgent?.name ?? reply.call, input }
  return { ...finish("tool-calls"), content: { type: "tool-call" as const, ...call } }
}

/** The model of the programs of the AI SDK and of Mastra: it replies by the script. */
export const model: LanguageModelV4 = new MockLanguageModelV4({
  async doGenerate(options) {
    const { content, ...rest } = replyTo(options)
    return { ...rest, content: [content], warnings: [] }
  },
  async doStream(options) {
    const { content, ...rest } = replyTo(options)
    const text = content.type === "text" ? [content.text.slice(0, 12), content.text.slice(12)] : []
    const chunks: LanguageModelV4StreamPart[] = [
      { type: "stream-start", warnings: [] },
      ...(content.type === "text" ? [{ type: "text-start" as const, id: "1" }] : [content]),
      ...text.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
      ...(content.type === "text" ? [{ type: "text-end" as const, id: "1" }] : []),
      { type: "finish", ...rest },
    ]
    return { stream: simulateReadableStream({ chunks }) }
  },
})
