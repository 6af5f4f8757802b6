import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import { guideReply } from "./script.ts"

function contentFor(prompt: LanguageModelV4Prompt): LanguageModelV4Content {
  const first = prompt.find(({ role }) => role === "user")?.content.at(0)
  const text = typeof first === "object" && first.type === "text" ? first.text : ""
  const reply = guideReply(text, prompt.filter(({ role }) => role === "assistant").length)
  if ("text" in reply) return { type: "text", text: reply.text }
  const toolCallId = `call_${prompt.length}`
  return { type: "tool-call", toolCallId, toolName: reply.call, input: JSON.stringify(reply.input) }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** The model of the programs of the AI SDK: it replies by the script. */
export const model: LanguageModelV4 = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const content = contentFor(prompt)
    const unified = content.type === "text" ? ("stop" as const) : ("tool-calls" as const)
    return { content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] }
  },
  doStream: async ({ prompt }) => {
    const content = contentFor(prompt)
    const text = content.type === "text" ? content.text : ""
    const deltas = [text.slice(0, 12), text.slice(12)].map((delta) => ({ type: "text-delta" as const, id: "1", delta }))
    const finish = { type: "finish" as const, finishReason: { unified: "stop" as const, raw: undefined }, usage }
    return {
      stream: simulateReadableStream({
        chunks: [{ type: "text-start" as const, id: "1" }, ...deltas, { type: "text-end" as const, id: "1" }, finish],
      }),
    }
  },
})
