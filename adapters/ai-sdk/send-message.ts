import type { Context } from "hono"
import { readUiRequest, type NewChatMessage } from "./chat-request.ts"
import {
  changeModel,
  chooseConnection,
  type Env,
  type MessageInput,
  refuseText,
  whenIdleAnywhere,
  RunFrames,
  sendAndWatch,
  senderFields,
  sendOnce,
  type ServerPorts,
  storeFiles,
  subscribeDuring,
  toClientContext,
  toConversationStart,
  type UiChatRequest,
  useFiles,
  userOf,
  watchFirstRun,
  watchRun,
} from "../../core/adapter.ts"
import {
  CLIENT_HISTORY,
  type ConversationId,
  type ConversationView,
  failure,
  hasCode,
  newId,
  type Proposal,
} from "../../core/protocol/index.ts"
import { findChat, conversationOfChat, messageIdOf } from "./chat-conversation.ts"
import { sendAnswers } from "./send-answers.ts"
import { streamRun, type StreamedRun } from "./stream-run.ts"

/** Answers the last message of a chat: a message of the person, or answers to open calls. */
export async function answerUiChat(c: Context<Env>, ports: ServerPorts, body: UiChatRequest): Promise<Response> {
  const request = readUiRequest(body)
  ports.streams.admit(c.get("caller"))
  const found = await findChat(c, ports, body.id)
  if (request.type === "words")
    return streamRun(c, ports, await sendChatMessage(c, ports, { asked: request, body, found }))
  if (!found) throw failure("not_found")
  return streamRun(c, ports, await sendAnswers(c, ports, { asked: request, found }))
}

/**
 * Sends the message, in the chat's conversation or a new one. A message that was already sent is not sent again: its run is
 * streamed from the beginning.
 */
async function sendChatMessage(c: Context<Env>, ports: ServerPorts, saying: MessageRequest): Promise<StreamedRun> {
  const { found } = saying
  if (found) return sendToChat(c, ports, { ...saying, found })
  const id = conversationOfChat(userOf(c), saying.body.id)
  const message = await toMessageInput(c, ports, { ...saying, id, isFirst: true })
  const beginning = await toConversationStart(c.get("caller"), ports, saying.body)
  try {
    await ports.runtime.begin({ ...beginning, id }, message)
  } catch (error) {
    // The same request, or another of this chat, was faster.
    const others = await ports.conversations.find(userOf(c), id)
    if (!others) throw error
    return sendToChat(c, ports, { ...saying, found: others })
  }
  return { id, frames: await watchFirstRun(ports, id, message.id) }
}

type Known = MessageRequest & { readonly found: ConversationView }

async function sendToChat(c: Context<Env>, ports: ServerPorts, saying: Known): Promise<StreamedRun> {
  const { asked: request, body, found } = saying
  const { id } = found
  const messageId = messageIdOf(id, request.id)
  const isThere = async () => (await ports.conversations.placeOf(id, messageId)) !== undefined
  const attach = async (): Promise<StreamedRun> => {
    await requireSame(ports, { found, asked: request })
    const message: MessageInput = { type: "message", id: messageId, text: request.text, when: "reject" }
    return { id, frames: await sendOnce(ports, found, message) }
  }
  if (await isThere()) return request.again ? answerRepeated(c, ports, saying) : attach()
  await refuseUnfit(c, ports, saying)
  const isFirst = (await ports.conversations.runs(id, { limit: 1 })).items.length === 0
  const message = await toMessageInput(c, ports, { ...saying, id, isFirst })
  refuseText(message)
  const { connectionId } = await chooseConnection(c.get("caller"), ports, body.connectionId ?? undefined)
  const place = connectionId ? { place: { connectionId } } : {}
  try {
    await changeModel(c.get("caller"), ports, { found, name: body.model ?? undefined })
    return { id, frames: await sendAndWatch(ports, found, { ...message, ...place }) }
  } catch (error) {
    // Another concurrent request was accepted: its run is this one's too.
    if (hasCode(error, "busy") && (await isThere())) return attach()
    throw error
  }
}

/** Refuses another agent, and approvals that were not sent: the message would supersede them. */
async function refuseUnfit(c: Context<Env>, ports: ServerPorts, { asked: request, body, found }: Known): Promise<void> {
  if (body.agent && body.agent !== found.agent)
    throw failure("bad_request", { problem: `agent: this chat is with ${found.agent}; begin another one.` })
  // An expired proposal cannot be decided, and one in doubt was already approved: waiting for these would never end.
  const waits = ({ status, expiresAt }: Proposal) => status === "pending" && Date.parse(expiresAt) > ports.clock.now()
  const open = new Set((await ports.proposals.open(found.id)).filter(waits).map(({ id }) => id))
  const unsent = request.unsent.filter(({ proposalId }) => open.has(proposalId)).length
  if (unsent > 0) throw failure("still_pending", { count: unsent })
}

/** Refuses another text under the id of an existing message. */
async function requireSame(
  { conversations }: ServerPorts,
  { found, asked: request }: { readonly found: ConversationView; readonly asked: NewChatMessage },
): Promise<void> {
  const existing = await conversations.message(found.id, messageIdOf(found.id, request.id))
  if (!existing || existing.content === request.text) return
  throw failure("bad_request", {
    problem: `messageId: this message exists with other text. Send a new message, or fork the conversation (POST /api/conversations/${found.id}/fork).`,
  })
}

/** Most characters of the client's history. */
const ROOM = { all: 48_000, one: 48_000 }

/** The limit of a run with the page's tools, where each reply that calls one counts. */
const MAX_ITERATIONS = 20

interface MessageContext extends Pick<MessageRequest, "asked" | "body"> {
  readonly id: ConversationId
  /** The conversation has no message yet, so the client's history is useful. */
  readonly isFirst: boolean
}

/**
 * The message with its context, which waits if a run is active. Files are stored first: a crash in between leaves
 * unreferenced files, which are deleted.
 */
async function toMessageInput(
  c: Context<Env>,
  ports: ServerPorts,
  { asked: request, body, id, isFirst }: MessageContext,
): Promise<MessageInput> {
  const messageId = messageIdOf(id, request.id)
  const context = isFirst ? toClientContext([[CLIENT_HISTORY, request.before]], ROOM) : []
  const stored = await storeFiles(userOf(c), ports, request.files)
  const files = await useFiles(ports, userOf(c), { conversation: id, message: messageId }, stored)
  return {
    ...{ type: "message", id: messageId, text: request.text, when: "queue" },
    ...senderFields(c.get("caller")),
    ...(body.timeZone ? { timeZone: body.timeZone } : {}),
    ...(context.length > 0 ? { brought: context } : {}),
    ...(request.tools.length > 0 ? { clientTools: request.tools, maxIterations: MAX_ITERATIONS } : {}),
    ...(request.results.length > 0
      ? { results: { type: "client_results", results: request.results, by: userOf(c) } as const }
      : {}),
    ...files,
  }
}

interface MessageRequest {
  readonly asked: NewChatMessage
  readonly body: UiChatRequest
  /** The chat's conversation, if it exists. */
  readonly found: ConversationView | undefined
}

/**
 * Answers an existing message again. A running run is streamed from its beginning; a failed or cancelled one is resumed;
 * after a completed one the message is sent again, because nothing is removed from a journal.
 */
async function answerRepeated(
  c: Context<Env>,
  ports: ServerPorts,
  { asked: request, found }: MessageRequest & { readonly found: ConversationView },
): Promise<StreamedRun> {
  const { id, position } = found
  const start = await ports.conversations.runStart(id, Number.MAX_SAFE_INTEGER)
  const [newest] = (await ports.conversations.runs(id, { limit: 1 })).items
  const question = (await ports.conversations.messagesOfRun(id, start)).find(({ role }) => role === "user")
  if (!newest || (question && question.content !== request.text))
    throw failure("bad_request", {
      problem: `trigger: the conversation has newer messages. Send it as a new message, or fork the conversation (POST /api/conversations/${id}/fork).`,
    })
  if (newest.status === "running") return { id, frames: await watchRun(ports, { id, start, position }) }
  const speaker = senderFields(c.get("caller"))
  if (newest.status === "failed" || newest.status === "cancelled") {
    await whenIdleAnywhere(ports, id) // the store may show the end before its writer has processed it
    const sendAnswers = () => ports.runtime.submit(id, { type: "resume", by: userOf(c), ...speaker })
    const { source } = await subscribeDuring(ports, found, sendAnswers)
    return { id, frames: new RunFrames(source, found) }
  }
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: request.text, when: "reject", behind: newest.id },
    ...speaker,
  }
  return { id, frames: await sendAndWatch(ports, found, message) }
}
