import type { ToolQuestion, CallContext } from "../../engine/definition/tool.ts"
import { MAX_FIELDS } from "../../protocol/conversation/questions.ts"
import type { ServerQuestionAnswer, ElicitingCall, RefusedQuestion } from "./connection/task-requests.ts"
import { toServerQuestion } from "./definition/question.ts"

/** The tool whose server asks. `secrets` must not appear in a question; it may grow during the call. */
interface QuestioningTool {
  readonly server: string
  readonly tool: string
  secrets(): readonly string[]
}

interface QuestionsOfCall extends ElicitingCall {
  /** The reasons why questions were not shown. */
  readonly unaskable: readonly string[]
}

/**
 * Puts a server's questions during a call to the person, one after another. The answer is `cancel` if the person is absent
 * or does not answer in time. Only a person can decline: a question that cannot be shown is an error.
 */
export function askInCall({ server, tool, secrets }: QuestioningTool, context: CallContext): QuestionsOfCall {
  const unaskable: string[] = []
  let before: Promise<unknown> = Promise.resolve()
  return {
    conversation: context.conversation,
    unaskable,
    ask(request) {
      const answer = before.then(() => askOne(request))
      before = answer.catch(() => {}) // handled by the caller
      return answer
    },
  }

  async function askOne(request: unknown): Promise<ServerQuestionAnswer | RefusedQuestion> {
    const ask = context.lasting?.ask
    if (!ask) return { action: "cancel" }
    const question = toServerQuestion(request, { server, tool, secrets: secrets() })
    if (typeof question === "string") {
      const why = `The person was not asked: ${question}.`
      unaskable.push(why)
      return { unaskable: why }
    }
    const content: NonNullable<ServerQuestionAnswer["content"]> = {}
    for (const part of inParts(question)) {
      const { outcome, content: values } = await ask(part)
      if (outcome !== "accept") return { action: outcome === "decline" ? outcome : "cancel" }
      Object.assign(content, values)
    }
    return { action: "accept", ...(question.url === undefined ? { content } : {}) }
  }
}

/** Splits a long form: a terminal shows only what fits its screen. */
function inParts(question: ToolQuestion): readonly ToolQuestion[] {
  const { fields } = question
  const of = Math.ceil(fields.length / MAX_FIELDS)
  if (of <= 1) return [question]
  return Array.from({ length: of }, (_, index) => {
    const some = fields.slice(index * MAX_FIELDS, (index + 1) * MAX_FIELDS)
    return { ...question, fields: some, part: { at: index + 1, of } }
  })
}
