import { type ReplySettings, withSettings } from "../../protocol/conversation/reply-settings.ts"
import { showHidden } from "../../shared/text/hidden-words.ts"
import { toolsToShow } from "../declared-tools.ts"
import type { Ground } from "../definition/agent.ts"
import { historyFor, messageText } from "../history/history.ts"
import type { CallResult, HistoryMessage, Model, ModelRequest, ToolDeclaration } from "../model.ts"
import type { Work } from "../record.ts"
import { withPersonContext } from "./person-context.ts"
import { promisedSchema, promiseWords } from "./promised-answer.ts"

interface AskedHow {
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

/** How the model is to reply now: as the server says, over that the agent, over that the conversation, over that the message. */
function replySettingsOf({
  ports,
  agent,
  conversation,
}: Pick<Work, "ports" | "agent" | "conversation">): ReplySettings {
  const ofServer = withSettings(ports.settings ?? NONE, agent.settings)
  return withSettings(withSettings(ofServer, conversation.settings), conversation.run?.settings)
}

/** The same one always: who has no settings asks as before, and that is seen without comparing them. */
const NONE: ReplySettings = {}

const TURNS = 8
const CHARACTERS = 800

/** What was said, without what tools have answered, for a judge who has to know what a short question is about. */
export function conversationSoFar(history: readonly HistoryMessage[]): string {
  const lines = history.flatMap(toLine)
  return lines.length === 0 ? "" : `The conversation so far:\n${lines.slice(-TURNS).join("\n")}\n\n`
}

function toLine(turn: HistoryMessage): string[] {
  if (turn.role === "tool" || (turn.role === "user" && turn.isNote)) return []
  const text = (turn.role === "user" ? turn.text : messageText(turn.parts)).trim().slice(0, CHARACTERS)
  return text ? [`${turn.role === "user" ? "Person" : "Assistant"}: ${text}`] : []
}

/** Characters of grounding for each token that the model can read: an eighth of its context, at four characters a token. */
const ROOM = 0.5

/** What an agent tells its model beside the instructions; undefined when the work was stopped meanwhile. */
export async function ground(work: Work, tell: Ground, model: Model): Promise<string | undefined> {
  const { conversation, ports, signal } = work
  const { id, user, connectionId, state, history } = conversation
  const room = Math.floor(model.contextTokens * ROOM)
  try {
    const told = await tell({ conversation: id, user, connectionId, state, ...wordsOf(history), room, signal })
    return signal.aborted ? undefined : showHidden(told.slice(0, room).toWellFormed())
  } catch (error) {
    if (signal.aborted) return undefined
    // A model that knows less can still ask its tools; a run that fails here could not even say so.
    ports.log.warn("grounding_failed", { conversation: conversation.id, error })
    return ""
  }
}

function wordsOf(history: readonly HistoryMessage[]) {
  const last = history.findLast((turn) => turn.role === "user")
  const hasResult = (words: string) =>
    history.some((turn) => turn.role === "tool" && turn.results.some(({ text }) => text.includes(words)))
  return { question: last?.role === "user" ? last.text : "", hasResult }
}
