import type { ToolQuestion, CallContext } from "../../engine/definition/tool.ts"
import { MAX_FIELDS } from "../../protocol/conversation/questions.ts"
import type { GivenAnswer, QuestioningCall, Unaskable } from "./connection/task-requests.ts"
import { toAskedQuestion } from "./definition/asked-question.ts"

/** Of which server and which tool, and what nothing that it asks may repeat: also tokens that were sent since. */
export interface AskingTool {
  readonly server: string
  readonly tool: string
  secrets(): readonly string[]
}

export interface QuestionsOfCall extends QuestioningCall {
  /** Why nobody was asked, for each question that cannot be shown. */
  readonly unaskable: readonly string[]
}

/**
 * What a server asks while it works on a call, put to the person of that call, one after the other. The answer is `cancel` if
 * nobody is there, or nobody has answered in time. Only a person declines: a question that cannot be shown is an error.
 */
export function askInCall({ server, tool, secrets }: AskingTool, context: CallContext): QuestionsOfCall {
  const unaskable: string[] = []
  let before: Promise<unknown> = Promise.resolve()
  return {
    conversation: context.conversation,
    unaskable,
    ask(asked) {
      const answer = before.then(() => askOne(asked))
      before = answer.catch(() => {}) // met by whoever waits for it
      return answer
    },
  }

  async function askOne(asked: unknown): Promise<GivenAnswer | Unaskable> {
    const ask = context.lasting?.ask
    if (!ask) return { action: "cancel" }
    const question = toAskedQuestion(asked, { server, tool, secrets: secrets() })
    if (typeof question === "string") {
      const why = `The person was not asked: ${question}.`
      unaskable.push(why)
      return { unaskable: why }
    }
    const content: NonNullable<GivenAnswer["content"]> = {}
    for (const part of inParts(question)) {
      const { outcome, content: given } = await ask(part)
      if (outcome !== "accept") return { action: outcome === "decline" ? outcome : "cancel" }
      Object.assign(content, given)
    }
    return { action: "accept", ...(question.url === undefined ? { content } : {}) }
  }
}

/** A form of many fields is asked in parts: a terminal shows no more of one than fits its screen. */
function inParts(question: ToolQuestion): readonly ToolQuestion[] {
  const { fields } = question
  const of = Math.ceil(fields.length / MAX_FIELDS)
  if (of <= 1) return [question]
  return Array.from({ length: of }, (_, index) => {
    const some = fields.slice(index * MAX_FIELDS, (index + 1) * MAX_FIELDS)
    return { ...question, fields: some, part: { at: index + 1, of } }
  })
}
