import { Usage } from "@openai/agents"
import { guideReply } from "./script.ts"

/** The package is installed by the test, so this file is not checked by TypeScript. */
function outputFor({ input }) {
  const items = typeof input === "string" ? [{ role: "user", content: input }] : input
  const textOf = (content) => (typeof content === "string" ? content : content[0].text)
  const messages = items.map(({ role, type, content }) => ({
    ...(role === "user" ? { user: textOf(content) } : {}),
    isReply: type === "function_call" || role === "assistant",
  }))
  const reply = guideReply(messages)
  if ("text" in reply)
    return {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: reply.text }],
    }
  const given = "task" in reply.input ? { input: reply.input.task } : reply.input
  return {
    type: "function_call",
    callId: `call_${items.length}`,
    name: reply.call,
    status: "completed",
    arguments: JSON.stringify(given),
  }
}

/** The model of the programs of the Agents SDK: it replies by the script. */
export const model = {
  async getResponse(request) {
    return { usage: new Usage(), output: [outputFor(request)] }
  },
  async *getStreamedResponse(request) {
    const output = outputFor(request)
    yield { type: "response_started" }
    for (const { text } of output.content ?? []) yield { type: "output_text_delta", delta: text }
    const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    yield { type: "response_done", response: { id: "1", usage, output: [output] } }
  },
}
