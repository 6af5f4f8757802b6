import { z } from "zod"
import { oneText } from "./ask-user.ts"
import { answer, defineTool, failed, type Tool, type ToolAnswer } from "./tool.ts"

/** Options of `askTool`: how the model sees the tool. */
export interface AskToolOptions {
  /** Default: `ask_user`. */
  readonly name?: string
  readonly description?: string
}

const choices = z.array(z.string().min(1).max(200)).min(2).max(20)

/**
 * Creates a tool with which an agent asks its user a question. The run waits for the answer, also after a restart.
 *
 * @example
 * const waiter = { name: "waiter", tools: [askTool()] }
 * const models = scripted(calls("ask_user", { question: "Inside?" }), says("A table inside."))
 * await using pawl = await openPawl({ store: ":memory:", agents: [waiter], models })
 * const asked = await pawl.ask("A table, please.")
 * if (asked.status === "waiting") await pawl.questions.answer(asked.questions[0]!, "yes")
 * console.log((await pawl.answer(asked.conversationId)).text) // A table inside.
 */
export function askTool({
  name = "ask_user",
  description = "Asks the user, if you need something that only they know or can choose. Waits for the answer.",
}: AskToolOptions = {}): Tool<{ question: string; choices?: string[] | undefined }, ToolAnswer> {
  return defineTool({
    ...{ name, description, effect: "read" },
    input: z.object({
      question: z.string().min(1).max(2000),
      choices: choices.optional().describe("The possible answers. Leave it out for any text."),
    }),
    async run({ question: message, choices }, context) {
      const answers = choices ? z.object({ answer: z.enum(choices) }) : oneText
      const reply = await context.ask({ message, answers })
      if (reply.outcome === "accept") return answer(reply.value.answer)
      const expired = reply.outcome === "expired"
      return failed(expired ? "The user did not answer in time." : "The user did not want to answer. Do not ask again.")
    },
  })
}
