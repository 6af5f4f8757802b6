import type { Hono, Context } from "hono"
import type { MessageInput } from "../../engine/input.ts"
import { isWorkingAnywhere, whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import { unfinishedRun } from "../../engine/accept/accept.ts"
import { failure } from "../../protocol/errors.ts"
import { routes } from "../../protocol/routes/index.ts"
import { spokenBy, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { streamFrames, wantsStream } from "../stream/open-stream.ts"
import { findConversation, messageOf } from "../conversation/find.ts"
import { hasKey, messageIdFor } from "../conversation/idempotency-keys.ts"
import { namedFiles, withPaths } from "../files/uploads.ts"
import type { ConversationRoutePorts, ConversationPorts } from "../conversation/ports.ts"
import { RunFrames, sayAndWatch, watchWhile, type Repeated, watchRepeated } from "../stream/send-message.ts"
import { waitForEvent } from "../conversation/wait-for-event.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { QueuedAnswer, RunAnswer } from "../../protocol/answers.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import { type MessageId, type ConversationId, type RunId, type UserId, isId } from "../../protocol/ids.ts"
import { nameModel, nameModelsOfRuns } from "../conversation/settings.ts"
import { refuseText } from "../../engine/accept/refuse-input.ts"
import { canonicalJson } from "../../shared/text/json.ts"
import { QUESTION_SETTLED, SettledQuestion, answerProblem } from "../../protocol/conversation/questions.ts"

/** Speaking to a conversation, and waiting for what it answers. */
export function messageRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { runtime, conversations } = ports

  serveRoute(app, routes.sendMessage, async (c, { body }) => {
    const { id, position } = await findConversation(c, ports)
    const { text, when, maxIterations, timeZone, settings, attended, schema } = body
    if (schema) await ports.answerSchema?.(schema, userOf(c)) // refused now, not with the answer
    if (wantsStream(c)) ports.streams.admit(c.get("caller")) // before anything is done that a refusal would deny
    const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
    // What is there already has its files, or had them: a repetition is answered also when they are removed.
    const isThere = repeated && (await conversations.placeOf(id, messageId)) !== undefined
    // Before it is said: a crash in between leaves a use without a message, which is swept up.
    const named = isThere ? [] : body.files
    const files = await namedFiles(ports, userOf(c), { conversation: id, message: messageId }, named)
    const message: MessageInput = {
      type: "message",
      id: messageId,
      text,
      when: when ?? "queue",
      ...spokenBy(c.get("caller")),
      ...(maxIterations ? { maxIterations } : {}),
      ...(timeZone ? { timeZone } : {}),
      ...(settings ? { settings } : {}),
      ...(attended ? { attended: true as const } : {}),
      ...withPaths(files, body.workFiles),
      ...(schema ? { schema } : {}),
    }
    if (repeated) return await answerRepeated(c, ports, { id, message, position })
    if (wantsStream(c)) return streamFrames(c, ports, await sayAndWatch(ports, { id, position }, message))
    const run = followRun(message.id)
    using watching = waitForEvent(ports, { id, position }, run.isOver)
    if ((await runtime.submit(id, message)) === "taken") {
      await watching.over()
      const answer = run.started && (await answerOfRun(ports, { user: userOf(c), id, ...run.started }))
      // Still running: this server is going down and another life will finish it. The message is safe, no more can be said.
      if (answer && answer.run.status !== "running") return answer
      return c.json(toQueued(message), 202)
    }
    // With a key it may have been sent twice at once, and the other one was taken: then its run is this one's too.
    if (hasKey(c) && message.when !== "steer") return await answerRepeated(c, ports, { id, message, position })
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
    const goOn = async () => {
      // The store shows that it has come to rest before its writer here has heard of its own commit: not at work any more.
      if (newest.status !== "running") await whenIdleAnywhere(ports, id)
      // One that is at work goes on by itself; all there is to do is wait.
      return (
        (await isWorkingAnywhere(ports, id)) ||
        (await runtime.submit(id, { type: "resume", by: userOf(c), ...spokenBy(c.get("caller")) }))
      )
    }
    if (wantsStream(c)) {
      // A failed or cancelled run is behind us, and so is a summary that was made since: what follows is a run of its own.
      const over = unfinishedRun(await ports.journal.load(id, true)) !== undefined
      const from = { id, position: over ? conversation.position : position }
      const { source } = await watchWhile(ports, from, goOn)
      return streamFrames(c, ports, new RunFrames(source, conversation))
    }
    await goOn()
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

/** The same answer as the first request gets, or would have got: attached to its run, which is not begun again. */
export async function answerRepeated(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  { id, message, position }: Repeated,
): Promise<Response> {
  const streams = wantsStream(c)
  const watched = await watchRepeated(ports, { id, message, position })
  if (watched.waits && !streams) {
    watched.frames.close()
    return c.json(toQueued(message), 202)
  }
  const { frames, start, from } = watched
  if (streams) return streamFrames(c, ports, frames)
  // Like a stream it ends when the server goes down, and when its caller no longer counts.
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
  // Still running: another life will finish it, as for whoever sent the message first.
  return answer.run.status === "running" ? c.json(toQueued(message), 202) : c.json(answer)
}

export function toQueued({ id, text, when }: MessageInput): QueuedAnswer {
  return { queued: { id, text, when: when === "steer" ? "steer" : "queue" } }
}

export interface FollowedRun {
  /** Where the run began, if that was seen. */
  started: Pick<EventOf<"run_started">, "runId" | "position"> | undefined
  ended: EventOf<"run_ended"> | undefined
  /** To be told every event; true when there is nothing left to wait for. */
  isOver(event: JournalEvent): boolean
}

/**
 * Follows the run that a message starts; without one, the run that is under way or the next to start.
 *
 * It is over when the conversation rests, which whoever watches learns anyway, or sooner, where queued messages keep that
 * from happening: when the next run begins. Not with its last event: the conversation would still be found busy.
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
      // A message that replaces open proposals first ends their run, which is not the one that it starts.
      if (event.type === "run_ended" && (followed.started || message === undefined)) followed.ended = event
      return false
    },
  }
  return followed
}

export interface AnswerRange {
  readonly user: UserId
  readonly id: ConversationId
  readonly runId: RunId
  /** Where what the caller has not seen yet begins. */
  readonly position: number
}

/** A run with the messages it brought from a position on, and what waits for a person now. */
export async function answerOfRun(
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
    nameModel(models, user, conversation),
    nameModelsOfRuns(models, user, [run]),
  ])
  return { conversation: named, run: shown, messages, proposals: open }
}

/** Messages that wait while a run works. */
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
    if (!before || !(await queue.edit(id, message, { text, ...asksOf(c) }))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return { ...before, text }
  })

  serveRoute(app, routes.withdrawQueued, async (c) => {
    const { id } = await findConversation(c, ports)
    const message = messageOf(c)
    if (!(await queue.withdraw(id, message))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return null
  })

  serveRoute(app, routes.sendQueued, async (c) => {
    const { id, status } = await findConversation(c, ports)
    const message = messageOf(c)
    const before = await queue.find(id, message)
    if (!before) throw await whyNot(ports, id, message)
    // A run that works or waits for a person is not overtaken: what waits behind it has its turn when that is over.
    if (status === "running" || status === "awaiting_confirmation") throw failure("busy", { id })
    if (!(await queue.release(id, message, asksOf(c)))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return c.json(before, 202)
  })
}

/** Words that were changed or let go by somebody who may not approve are no longer those of who may. */
const asksOf = (c: Context<Env>): { asks?: true } => {
  const { asks } = spokenBy(c.get("caller"))
  return asks ? { asks } : {}
}

async function whyNot({ conversations }: ConversationRoutePorts, id: ConversationId, message: MessageId) {
  const place = await conversations.placeOf(id, message)
  return place === undefined ? failure("not_found") : failure("message_taken", { id: message })
}

/** Answers to what servers of tools ask: each waits until it is on record that it, or another one, was the first. */
export function questionRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  const { runtime, journal } = ports

  serveRoute(app, routes.answerQuestion, async (c, { body }) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    const questionId = c.req.param("questionId") ?? ""
    if (!isId("ques", questionId)) throw failure("not_found")
    const { calls } = await journal.load(id, true)
    const question = calls.find((call) => call.question?.id === questionId)?.question
    if (!question) throw failure("question_settled", { id: questionId })
    const problem = answerProblem(question, body)
    if (problem) throw failure("bad_request", { problem })
    let settled: SettledQuestion | undefined
    const isOver = (event: JournalEvent) => {
      if (event.type === "step" && event.step === QUESTION_SETTLED) {
        const { data } = SettledQuestion.safeParse(event.detail)
        if (data?.questionId === questionId) settled = data
      }
      // Its call has ended, or was begun anew after a crash: nobody waits for this answer any more.
      return settled !== undefined || ("callId" in event && event.callId === question.callId)
    }
    using watching = waitForEvent(ports, conversation, isOver)
    await runtime.submit(id, { type: "answer", questionId, by: userOf(c), ...body })
    await watching.over()
    // The same answer from two devices is one answer.
    const isOurs =
      settled?.outcome === body.action && canonicalJson(settled.content ?? {}) === canonicalJson(body.content ?? {})
    if (!settled || !isOurs) throw failure("question_settled", { id: questionId })
    return settled
  })
}
