import type { Hono, Context } from "hono"
import type { MessageInput } from "../../engine/input.ts"
import { isWorkingAnywhere, whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import { unfinishedRun } from "../../engine/accept/accept.ts"
import { failure } from "../../protocol/errors.ts"
import { routes } from "../../protocol/routes/index.ts"
import { senderFields, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { streamFrames, wantsStream } from "../stream/open-stream.ts"
import { findConversation, messageOf } from "../conversation/find.ts"
import { hasIdempotencyKey, messageIdFor } from "../conversation/idempotency-keys.ts"
import { useFiles, withPaths } from "../files/uploads.ts"
import type { ConversationRoutePorts, ConversationPorts } from "../conversation/ports.ts"
import { RunFrames, sendAndWatch, subscribeDuring, type Repeated, watchSentMessage } from "../stream/send-message.ts"
import { waitForEvent } from "../conversation/wait-for-event.ts"
import { answerQuestion } from "../conversation/decide.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { QueuedAnswer, RunAnswer } from "../../protocol/answers.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import { type MessageId, type ConversationId, type RunId, type UserId } from "../../protocol/ids.ts"
import { withDefaultModel, withDefaultModelsOfRuns } from "../conversation/settings.ts"
import { refuseText } from "../../engine/accept/refuse-input.ts"

/** Sending messages, and waiting for the answer. */
export function messageRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { runtime, conversations } = ports

  serveRoute(app, routes.sendMessage, async (c, { body }) => {
    const { id, position } = await findConversation(c, ports)
    const { text, when, maxIterations, timeZone, settings, attended, schema } = body
    if (schema) await ports.answerSchema?.(schema, userOf(c)) // refuse now, not when the answer is due
    if (wantsStream(c)) ports.streams.admit(c.get("caller")) // before anything is recorded
    const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
    // A repeated message already has its files. They are not checked again: they may have been removed since.
    const isThere = repeated && (await conversations.placeOf(id, messageId)) !== undefined
    // Before the message: a crash in between leaves a use without a message, which is cleaned up.
    const named = isThere ? [] : body.files
    const files = await useFiles(ports, userOf(c), { conversation: id, message: messageId }, named)
    const message: MessageInput = {
      type: "message",
      id: messageId,
      text,
      when: when ?? "queue",
      ...senderFields(c.get("caller")),
      ...(maxIterations ? { maxIterations } : {}),
      ...(timeZone ? { timeZone } : {}),
      ...(settings ? { settings } : {}),
      ...(attended ? { attended: true as const } : {}),
      ...withPaths(files, body.workFiles),
      ...(schema ? { schema } : {}),
    }
    if (repeated) return await answerRepeated(c, ports, { id, message, position })
    if (wantsStream(c)) return streamFrames(c, ports, await sendAndWatch(ports, { id, position }, message))
    const run = followRun(message.id)
    using watching = waitForEvent(ports, { id, position }, run.isOver)
    if ((await runtime.submit(id, message)) === "taken") {
      await watching.over()
      const answer = run.started && (await answerOfRun(ports, { user: userOf(c), id, ...run.started }))
      // Still running: this server is shutting down and another continues the run. The message is durable; there is no
      // answer yet.
      if (answer && answer.run.status !== "running") return answer
      return c.json(toQueued(message), 202)
    }
    // With a key it may have been sent twice at once, and the other request was accepted: then this one waits for the same
    // run.
    if (hasIdempotencyKey(c) && message.when !== "steer")
      return await answerRepeated(c, ports, { id, message, position })
    return c.json(toQueued(message), 202)
  })

  serveRoute(app, routes.resumeRun, async (c) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    if (wantsStream(c)) ports.streams.admit(c.get("caller"))
    const run = followRun()
    using watching = waitForEvent(ports, conversation, run.isOver)
    const position = await conversations.lastPause(id)
    const [newest] = (await conversations.runs(id, { limit: 1 })).items
    if (position === undefined || !newest) throw failure("nothing_to_resume", { id })
    const resume = async () => {
      // The store may show the end of a run before its writer here has processed its own commit.
      if (newest.status !== "running") await whenIdleAnywhere(ports, id)
      // A run that is working continues by itself; only wait for it.
      return (
        (await isWorkingAnywhere(ports, id)) ||
        (await runtime.submit(id, { type: "resume", by: userOf(c), ...senderFields(c.get("caller")) }))
      )
    }
    if (wantsStream(c)) {
      // After a failed or cancelled run, or a later summary, what follows is a new run.
      const over = unfinishedRun(await ports.journal.load(id, true)) !== undefined
      const from = { id, position: over ? conversation.position : position }
      const { source } = await subscribeDuring(ports, from, resume)
      return streamFrames(c, ports, new RunFrames(source, conversation))
    }
    await resume()
    await watching.over()
    const started = run.started ?? { runId: newest.id, position }
    return await answerOfRun(ports, { user: userOf(c), id, ...started })
  })

  serveRoute(app, routes.cancelRun, async (c) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    const run = followRun()
    using watching = waitForEvent(ports, conversation, run.isOver)
    await runtime.submit(id, { type: "cancel", by: userOf(c) })
    await watching.over()
    return { cancelled: run.ended?.status === "cancelled" }
  })
}

/** Answers a repeated message like the first request: attached to its run, which is not started again. */
async function answerRepeated(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  { id, message, position }: Repeated,
): Promise<Response> {
  const streams = wantsStream(c)
  const watched = await watchSentMessage(ports, { id, message, position })
  if (watched.waits && !streams) {
    watched.frames.close()
    return c.json(toQueued(message), 202)
  }
  const { frames, start, from } = watched
  if (streams) return streamFrames(c, ports, frames)
  // Like a stream it ends when the server shuts down or the credential is no longer valid.
  const letGo = ports.streams.register(c.get("caller"), () => frames.close())
  try {
    while (await frames.next());
  } finally {
    letGo()
    frames.close()
  }
  const [started] = await ports.journal.read(id, { after: start - 1, upTo: start })
  if (started?.type !== "run_started" || !("runId" in started)) throw failure("internal")
  const answer = await answerOfRun(ports, { user: userOf(c), id, runId: started.runId, position: from })
  // Still running: another process continues it, as in `sendMessage`.
  return answer.run.status === "running" ? c.json(toQueued(message), 202) : c.json(answer)
}

export function toQueued({ id, text, when }: MessageInput): QueuedAnswer {
  return { queued: { id, text, when: when === "steer" ? "steer" : "queue" } }
}

export interface FollowedRun {
  /** The start of the run, if it was seen. */
  started: Pick<EventOf<"run_started">, "runId" | "position"> | undefined
  ended: EventOf<"run_ended"> | undefined
  /** Pass every event; true when there is nothing left to wait for. */
  isOver(event: JournalEvent): boolean
}

/**
 * Follows the run that a message starts; without a message, the current run or the next to start.
 *
 * It is not over with its last event, because the conversation is still busy then. It is over when the conversation is idle,
 * which the caller detects anyway, or when queued messages start the next run.
 */
export function followRun(message?: MessageId): FollowedRun {
  let newest: EventOf<"run_started"> | undefined
  const isMine = (event: JournalEvent) =>
    message === undefined ? event.type === "run_started" : event.type === "message" && event.id === message
  const followed: FollowedRun = {
    started: undefined,
    ended: undefined,
    isOver(event) {
      if (event.type === "run_started") newest = event
      if (followed.ended) return event.type === "run_started"
      if (isMine(event)) followed.started ??= newest
      // A message that replaces open proposals first ends their run, which is not the run it starts.
      if (event.type === "run_ended" && (followed.started || message === undefined)) followed.ended = event
      return false
    },
  }
  return followed
}

interface AnswerRange {
  readonly user: UserId
  readonly id: ConversationId
  readonly runId: RunId
  /** The first position that the caller has not seen. */
  readonly position: number
}

/** A run with its messages from a position on, and the proposals that are open now. */
async function answerOfRun(
  ports: ConversationRoutePorts,
  { user, id, runId, position }: AnswerRange,
): Promise<RunAnswer> {
  const { conversations, proposals, models } = ports
  const [conversation, run, messages, open] = await Promise.all([
    conversations.find(user, id),
    conversations.run(user, runId),
    conversations.messagesOfRun(id, position),
    proposals.open(id),
  ])
  if (!conversation || !run) throw failure("not_found")
  const [named, [shown = run]] = await Promise.all([
    withDefaultModel(models, user, conversation),
    withDefaultModelsOfRuns(models, user, [run]),
  ])
  return { conversation: named, run: shown, messages, proposals: open }
}

/** Messages that wait in the inbox while a run works. */
export function queueRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { queue, bus } = ports

  serveRoute(app, routes.listQueue, async (c, { query }) => {
    const { id } = await findConversation(c, ports)
    return queue.list(id, query)
  })

  serveRoute(app, routes.editQueued, async (c, { body: { text } }) => {
    const { id } = await findConversation(c, ports)
    const message = messageOf(c)
    refuseText({ type: "message", id: message, text, when: "queue" })
    const before = await queue.find(id, message)
    if (!before || !(await queue.edit(id, message, { text, ...askingOf(c) })))
      throw await toSignInError(ports, id, message)
    bus.wake(id)
    return { ...before, text }
  })

  serveRoute(app, routes.withdrawQueued, async (c) => {
    const { id } = await findConversation(c, ports)
    const message = messageOf(c)
    if (!(await queue.withdraw(id, message))) throw await toSignInError(ports, id, message)
    bus.wake(id)
    return null
  })

  serveRoute(app, routes.sendQueued, async (c) => {
    const { id, status } = await findConversation(c, ports)
    const message = messageOf(c)
    const before = await queue.find(id, message)
    if (!before) throw await toSignInError(ports, id, message)
    // A running or paused run is not overtaken: the message has its turn when that run is over.
    if (status === "running" || status === "awaiting_confirmation") throw failure("busy", { id })
    if (!(await queue.release(id, message, askingOf(c)))) throw await toSignInError(ports, id, message)
    bus.wake(id)
    return c.json(before, 202)
  })
}

/** A message that someone without the scope `approve` changed or released no longer approves anything. */
const askingOf = (c: Context<Env>): { asks?: true } => {
  const { asks } = senderFields(c.get("caller"))
  return asks ? { asks } : {}
}

async function toSignInError({ conversations }: ConversationRoutePorts, id: ConversationId, message: MessageId) {
  const place = await conversations.placeOf(id, message)
  return place === undefined ? failure("not_found") : failure("message_taken", { id: message })
}

/** Answers to questions of tools and MCP servers. Each request waits until an answer is recorded, its own or another. */
export function questionRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.answerQuestion, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    return answerQuestion(ports, { id, questionId: c.req.param("questionId") ?? "" }, { by: userOf(c), ...body })
  })
}
