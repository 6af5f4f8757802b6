import { historyFor } from "../history/history.ts"
import type { CallResult, Model, ModelRequest, ToolDeclaration } from "../model.ts"
import { toolsToShow } from "../declared-tools.ts"
import type { Work } from "../record.ts"
import { withPersonContext } from "./person-context.ts"
import { promisedSchema, promiseWords } from "./promised-answer.ts"
import { replySettingsOf } from "./reply-settings-of.ts"

export interface AskedHow {
  readonly model: Pick<Model, "name">
  readonly toolChoice: "auto" | "none"
  /** What the agent tells beside its instructions; empty where it tells nothing. */
  readonly grounding: string
}

/** What a model is asked next, without the files in it. The same fold gives the same request: a replay makes it with this too. */
export function toRequest(
  work: Pick<Work, "conversation" | "agent" | "ports">,
  { model, toolChoice, grounding }: AskedHow,
): ModelRequest {
  const { conversation, agent, ports } = work
  const last = conversation.history.at(-1)
  // Promise 7: rather no request than one in which a call lacks its result. `every` would pass over empty places.
  if (last?.role === "tool" && (last.results as (CallResult | undefined)[]).includes(undefined)) {
    throw new Error(`${conversation.id}: a call of the last reply has no result`)
  }
  const history = historyFor(conversation, model.name)
  const tools = toolsToShow(conversation, agent)
  if (tools.length === 0 && history.some(({ role }) => role === "tool")) tools.push(NO_TOOLS)
  const told = withPersonContext(agent.instructions, conversation, ports.timeZone)
  // Last, so that what changes leaves the beginning of the request as it was for a provider's cache.
  const answerSchema = promisedSchema(work)
  const parts = [told, grounding, answerSchema ? promiseWords(answerSchema) : ""]
  const system = parts.filter((part) => part !== "").join("\n\n")
  const asked = { system, history, tools, toolChoice, settings: replySettingsOf(work) }
  return answerSchema ? { ...asked, answerSchema } : asked
}

/** Some providers refuse a history of calls where no tool is declared, as when all of an agent's are hidden. */
const NO_TOOLS: ToolDeclaration = {
  name: "no_tools",
  description: "There are no tools at the moment. Answer in words.",
  inputSchema: { type: "object", properties: {} },
}
