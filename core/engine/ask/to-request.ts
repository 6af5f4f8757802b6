import { type ReplySettings, withSettings } from "../../protocol/conversation/reply-settings.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import { toolsToShow } from "../declared-tools.ts"
import type { Ground } from "../definition/agent.ts"
import { historyFor, messageText } from "../history/history.ts"
import type { CallResult, HistoryMessage, Model, ModelRequest, ToolDeclaration } from "../model.ts"
import type { Work } from "../record.ts"
import { withPersonContext } from "./person-context.ts"
import { answerSchemaOf, schemaInstructions } from "./answer-schema.ts"

interface AskedHow {
  readonly model: Pick<Model, "name">
  readonly toolChoice: "auto" | "none"
  /** The agent's grounding text; empty if it has none. */
  readonly grounding: string
}

/**
 * Builds the next request to a model, without file contents. The same state gives the same request, which a replay
 * relies on.
 */
export function toRequest(
  work: Pick<Work, "conversation" | "agent" | "ports">,
  { model, toolChoice, grounding }: AskedHow,
): ModelRequest {
  const { conversation, agent, ports } = work
  const last = conversation.history.at(-1)
  // A request in which a call has no result is never sent. `every` would skip empty elements.
  if (last?.role === "tool" && (last.results as (CallResult | undefined)[]).includes(undefined)) {
    throw new Error(`${conversation.id}: a call of the last reply has no result`)
  }
  const history = historyFor(conversation, model.name)
  const tools = toolsToShow(conversation, agent)
  if (tools.length === 0 && history.some(({ role }) => role === "tool")) tools.push(NO_TOOLS)
  const instructions = withPersonContext(agent.instructions, conversation, ports.timeZone)
  // At the end, so that what changes leaves the cached prefix at the provider valid.
  const answerSchema = answerSchemaOf(work)
  const parts = [instructions, grounding, answerSchema ? schemaInstructions(answerSchema) : ""]
  const system = parts.filter((part) => part !== "").join("\n\n")
  const asked = { agent: agent.name, system, history, tools, toolChoice, settings: replySettingsOf(work) }
  return answerSchema ? { ...asked, answerSchema } : asked
}

/** Some providers reject a history with calls if no tool is declared, as when all tools of an agent are hidden. */
const NO_TOOLS: ToolDeclaration = {
  name: "no_tools",
  description: "There are no tools at the moment. Answer in words.",
  inputSchema: { type: "object", properties: {} },
}

/** The reply settings, by rising precedence: the server's, the agent's, the conversation's, the message's. */
function replySettingsOf({
  ports,
  agent,
  conversation,
}: Pick<Work, "ports" | "agent" | "conversation">): ReplySettings {
  const ofServer = withSettings(ports.settings ?? NONE, agent.settings)
  return withSettings(withSettings(ofServer, conversation.settings), conversation.run?.settings)
}

/** Always the same object, so that "no settings" is recognized without comparing. */
const NONE: ReplySettings = {}

const TURNS = 8
const CHARACTERS = 800

/** The messages without tool results, for a decision about a short question. */
export function conversationSoFar(history: readonly HistoryMessage[]): string {
  const lines = history.flatMap(toLine)
  return lines.length === 0 ? "" : `The conversation so far:\n${lines.slice(-TURNS).join("\n")}\n\n`
}

function toLine(turn: HistoryMessage): string[] {
  if (turn.role === "tool" || (turn.role === "user" && turn.isNote)) return []
  const text = (turn.role === "user" ? turn.text : messageText(turn.parts)).trim().slice(0, CHARACTERS)
  return text ? [`${turn.role === "user" ? "Person" : "Assistant"}: ${text}`] : []
}

/** Characters of grounding per token of context: an eighth of the context, at four characters per token. */
const ROOM = 0.5

/** Returns the agent's grounding text; undefined if the work was stopped in the meantime. */
export async function ground(work: Work, tell: Ground, model: Model): Promise<string | undefined> {
  const { conversation, ports, signal } = work
  const { id, user, connectionId, state, history } = conversation
  const room = Math.floor(model.contextTokens * ROOM)
  try {
    const text = await tell({ conversation: id, user, connectionId, state, ...wordsOf(history), room, signal })
    return signal.aborted ? undefined : showHidden(text.slice(0, room).toWellFormed())
  } catch (error) {
    if (signal.aborted) return undefined
    // A model without this text can still call its tools. A failed run could not even report the problem.
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
