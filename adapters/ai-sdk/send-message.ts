import type { Context } from "hono"
import { readUiRequest, type AskedWords } from "./chat-request.ts"
import type { UiChatRequest } from "../../core/protocol/dialects/ai-sdk.ts"
import { failure, hasCode } from "../../core/protocol/errors.ts"
import {
  type Env,
  type ServerPorts,
  refuseText,
  type MessageInput,
  changeModel,
  chooseConnection,
  toBeginning,
  userOf,
  subscribe,
  framesOfRun,
  sayAndWatch,
  watchRepeated,
  toClientContext,
  namedFiles,
  spokenBy,
  keepFiles,
  whenIdleAnywhere,
  RunFrames,
  watchWhile,
  watchRun,
} from "../../core/adapter.ts"
import { findChat, conversationOfChat, messageIdOf } from "./chat-conversation.ts"
import { goOn } from "./continue-run.ts"
import { streamRun, type StreamedRun } from "./stream-run.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { CLIENT_HISTORY } from "../../core/protocol/conversation/message.ts"
import { type ConversationId, newId } from "../../core/protocol/ids.ts"

/** What the last message of a chat asks for, and the run that answers it. */
export async function answerUiChat(c: Context<Env>, ports: ServerPorts, body: UiChatRequest): Promise<Response> {
  const asked = readUiRequest(body)
  ports.streams.admit(c.get("caller"))
  const found = await findChat(c, ports, body.id)
  if (asked.type === "words") return streamRun(c, ports, await sayChatWords(c, ports, { asked, body, found }))
  if (!found) throw failure("not_found")
  return streamRun(c, ports, await goOn(c, ports, { asked, found }))
}

/**
 * Says the words of a request, in the conversation of its chat or in one that begins with them. Words that are there
 * already are not said again: their run is told from its beginning.
 */
export async function sayChatWords(c: Context<Env>, ports: ServerPorts, saying: WordsRequest): Promise<StreamedRun> {
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

async function sayIn(c: Context<Env>, ports: ServerPorts, saying: Known): Promise<StreamedRun> {
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
async function refuseUnfit(c: Context<Env>, ports: ServerPorts, { asked, body, found }: Known): Promise<void> {
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
  { conversations }: ServerPorts,
  { found, asked }: { readonly found: ConversationView; readonly asked: AskedWords },
): Promise<void> {
  const said = await conversations.message(found.id, messageIdOf(found.id, asked.id))
  if (!said || said.content === asked.text) return
  throw failure("bad_request", {
    problem: `messageId: this message exists with other text. Send a new message, or fork the conversation (POST /api/conversations/${found.id}/fork).`,
  })
}

/** Characters that a client's memory may have beside the words. */
const ROOM = { all: 48_000, one: 48_000 }

/** Of a run that calls tools of its page: each reply that does counts. */
const MAX_ITERATIONS = 20

interface Said extends Pick<WordsRequest, "asked" | "body"> {
  readonly id: ConversationId
  /** Nothing was said in the conversation before: what the client remembers is all that it can know. */
  readonly isFirst: boolean
}

/** The words of a request with what comes along. Their files are kept first: a crash in between leaves some that nobody names. */
export async function toSaidMessage(
  c: Context<Env>,
  ports: ServerPorts,
  { asked, body, id, isFirst }: Said,
): Promise<MessageInput> {
  const messageId = messageIdOf(id, asked.id)
  const brought = isFirst ? toClientContext([[CLIENT_HISTORY, asked.before]], ROOM) : []
  const kept = await keepFiles(userOf(c), ports, asked.files)
  const files = await namedFiles(ports, userOf(c), { conversation: id, message: messageId }, kept)
  return {
    ...{ type: "message", id: messageId, text: asked.text, when: "reject" },
    ...spokenBy(c.get("caller")),
    ...(body.timeZone ? { timeZone: body.timeZone } : {}),
    ...(brought.length > 0 ? { brought } : {}),
    ...(asked.tools.length > 0 ? { clientTools: asked.tools, maxIterations: MAX_ITERATIONS } : {}),
    ...(asked.results.length > 0
      ? { results: { type: "client_results", results: asked.results, by: userOf(c) } as const }
      : {}),
    ...files,
  }
}

/** A request to say something. */
export interface WordsRequest {
  readonly asked: AskedWords
  readonly body: UiChatRequest
  /** The conversation of its chat, where something was said in it before. */
  readonly found: ConversationView | undefined
}

/**
 * Answers words once more that are there already. One that is at work on them is told from its beginning; one that failed or
 * was stopped goes on; and behind one that has ended they are said again, because nothing is taken out of a journal.
 */
export async function answerAgain(
  c: Context<Env>,
  ports: ServerPorts,
  { asked, found }: WordsRequest & { readonly found: ConversationView },
): Promise<StreamedRun> {
  const { id, position } = found
  const start = await ports.conversations.runStart(id, Number.MAX_SAFE_INTEGER)
  const [newest] = (await ports.conversations.runs(id, { limit: 1 })).items
  const words = (await ports.conversations.messagesOfRun(id, start)).find(({ role }) => role === "user")
  if (!newest || (words && words.content !== asked.text))
    throw failure("bad_request", {
      problem: `trigger: the conversation has newer messages. Send it as a new message, or fork the conversation (POST /api/conversations/${id}/fork).`,
    })
  if (newest.status === "running") return { id, frames: await watchRun(ports, { id, start, position }) }
  const speaker = spokenBy(c.get("caller"))
  if (newest.status === "failed" || newest.status === "cancelled") {
    await whenIdleAnywhere(ports, id) // the store tells that it is over before its writer has heard of it
    const goOn = () => ports.runtime.submit(id, { type: "resume", by: userOf(c), ...speaker })
    const { source } = await watchWhile(ports, found, goOn)
    return { id, frames: new RunFrames(source, found) }
  }
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: asked.text, when: "reject", behind: newest.id },
    ...speaker,
  }
  return { id, frames: await sayAndWatch(ports, found, message) }
}
