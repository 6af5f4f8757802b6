import type { CallContext } from "../agent/definition/tool.ts"
import type { QuestioningCall, GivenAnswer } from "./connection/questioning-calls.ts"
import { toAskedQuestion } from "./definition/asked-question.ts"
import type { McpServer } from "./definition/server.ts"

/**
 * What a server asks while it works on a call, put to the person of that call, one after the other. `cancel` where nobody is
 * there, or nobody has answered in time; `decline` for what no person is asked.
 */
export function askInCall(server: McpServer, tool: string, context: CallContext): QuestioningCall {
  let before: Promise<unknown> = Promise.resolve()
  return {
    conversation: context.conversation,
    ask(asked) {
      const answer = before.then(() => askOne(asked))
      before = answer.catch(() => {}) // met by whoever waits for it
      return answer
    },
  }

  async function askOne(asked: unknown): Promise<GivenAnswer> {
    const ask = context.lasting?.ask
    if (!ask) return { action: "cancel" }
    const question = toAskedQuestion(asked, server, tool)
    if (!question) return { action: "decline" }
    const { outcome, content } = await ask(question)
    if (outcome !== "accept") return { action: outcome === "decline" ? outcome : "cancel" }
    return { action: outcome, ...(question.url === undefined ? { content: content ?? {} } : {}) }
  }
}
