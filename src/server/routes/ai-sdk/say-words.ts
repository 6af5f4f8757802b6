import type { Context } from "hono"
import { refuseText } from "../../../agent/accept/refuse-input.ts"
import type { MessageInput } from "../../../agent/input.ts"
import type { AskedWords } from "../../../dialects/ai-sdk/asked-chat.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import type { Proposal } from "../../../protocol/proposals/proposal.ts"
import { changeModel } from "../../conversation/change-model.ts"
import { chooseConnection, toBeginning } from "../../conversation/settings.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { subscribe } from "../../stream/open-stream.ts"
import { framesOfRun, sayAndWatch } from "../../stream/say-and-watch.ts"
import { watchRepeated } from "../../stream/watch-repeated.ts"
import { answerAgain } from "./answer-again.ts"
import { conversationOfChat, messageIdOf } from "./chat-conversation.ts"
import type { AiSdkPorts } from "./ports.ts"
import { toSaidMessage } from "./said-message.ts"
import type { StreamedRun } from "./stream-run.ts"
import type { WordsRequest } from "./words-request.ts"

/**
 * Says the words of a request, in the conversation of its chat or in one that begins with them. Words that are there
 * already are not said again: their run is told from its beginning.
 */
export async function sayChatWords(c: Context<Env>, ports: AiSdkPorts, saying: WordsRequest): Promise<StreamedRun> {
  const { found } = saying
  if (found) return sayIn(c, ports, { ...saying, found })
  const id = conversationOfChat(userOf(c), saying.body.id)
  const message = await toSaidMessage(c, ports, { ...saying, id, isFirst: true })
  const beginning = await toBeginning(c.get("caller"), ports, saying.body)
  try {
    await ports.runtime.begin({ ...beginning, id }, message)
  } catch (error) {
    // The same request, or another of this chat, was faster.
    const others = await ports.conversations.find(userOf(c), id)
    if (!others) throw error
    return sayIn(c, ports, { ...saying, found: others })
  }
  const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
  return { id, frames: framesOfRun(ports, source, { id, position: 0, message: message.id, waits: false }) }
}

type Known = WordsRequest & { readonly found: ConversationView }

async function sayIn(c: Context<Env>, ports: AiSdkPorts, saying: Known): Promise<StreamedRun> {
  const { asked, body, found } = saying
  const { id, position } = found
  const messageId = messageIdOf(id, asked.id)
  const isThere = async () => (await ports.conversations.placeOf(id, messageId)) !== undefined
  const attach = async (): Promise<StreamedRun> => {
    await requireSame(ports, { found, asked })
    const message: MessageInput = { type: "message", id: messageId, text: asked.text, when: "reject" }
    return { id, frames: (await watchRepeated(ports, { id, position, message, asItStands: true })).frames }
  }
  if (await isThere()) return asked.again ? answerAgain(c, ports, saying) : attach()
  await refuseUnfit(c, ports, saying)
  const isFirst = (await ports.conversations.runs(id, { limit: 1 })).items.length === 0
  const message = await toSaidMessage(c, ports, { ...saying, id, isFirst })
  refuseText(message)
  const { connectionId } = await chooseConnection(c.get("caller"), ports, body.connectionId ?? undefined)
  const place = connectionId ? { place: { connectionId } } : {}
  try {
    await changeModel(c.get("caller"), ports, { found, name: body.model ?? undefined })
    return { id, frames: await sayAndWatch(ports, found, { ...message, ...place }) }
  } catch (error) {
    // Of two that came at once the other was taken: its run is this one's too.
    if (hasCode(error, "busy") && (await isThere())) return attach()
    throw error
  }
}

/** A chat stays with its agent; and who has agreed to something, and says so no more, would see it passed over. */
async function refuseUnfit(c: Context<Env>, ports: AiSdkPorts, { asked, body, found }: Known): Promise<void> {
  if (body.agent && body.agent !== found.agent)
    throw failure("bad_request", { problem: `agent: this chat is with ${found.agent}; begin another one.` })
  // One whose time is over can be decided no more, and one in doubt was agreed to: these would hold them up for ever.
  const waits = ({ status, expiresAt }: Proposal) => status === "pending" && Date.parse(expiresAt) > ports.clock.now()
  const open = new Set((await ports.proposals.open(found.id)).filter(waits).map(({ id }) => id))
  const unsent = asked.unsent.filter(({ proposalId }) => open.has(proposalId)).length
  if (unsent > 0) throw failure("still_pending", { count: unsent })
}

/** What was said stays said: other words under the same name would be passed over. */
async function requireSame(
  { conversations }: AiSdkPorts,
  { found, asked }: { readonly found: ConversationView; readonly asked: AskedWords },
): Promise<void> {
  const said = await conversations.message(found.id, messageIdOf(found.id, asked.id))
  if (!said || said.content === asked.text) return
  throw failure("bad_request", {
    problem: `messageId: this was said with other words, which stay; send a new message, or branch with POST /api/conversations/${found.id}/fork.`,
  })
}
