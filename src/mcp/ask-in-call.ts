import type { CallContext } from "../agent/definition/tool.ts"
import type { QuestioningCall, GivenAnswer } from "./connection/questioning-calls.ts"
import { toAskedQuestion } from "./definition/asked-question.ts"

/** Of which server and which tool, and what nothing that it asks may repeat: also tokens that were sent since. */
export interface AskingTool {
  readonly server: string
  readonly tool: string
  secrets(): readonly string[]
}

/**
 * What a server asks while it works on a call, put to the person of that call, one after the other. `cancel` where nobody is
 * there, or nobody has answered in time; `decline` for what no person is asked.
 */
export function askInCall({ server, tool, secrets }: AskingTool, context: CallContext): QuestioningCall {
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
    const question = toAskedQuestion(asked, { server, tool, secrets: secrets() })
    if (!question) return { action: "decline" }
    const { outcome, content } = await ask(question)
    if (outcome !== "accept") return { action: outcome === "decline" ? outcome : "cancel" }
    return { action: outcome, ...(question.url === undefined ? { content: content ?? {} } : {}) }
  }
}
