import type { z } from "zod"
import type { Schema } from "../engine/definition/schema.ts"
import type { Beginning, MessageInput } from "../engine/input.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { QUESTION } from "../protocol/conversation/questions.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, type FileId, isId, type MessageId, newId, type UserId } from "../protocol/ids.ts"
import type { JsonObject, Mode } from "../protocol/schema.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { lastChosenModel } from "../server/conversation/settings.ts"
import { useFiles } from "../server/files/uploads.ts"
import { check } from "../server/request/read-input.ts"
import { RunFrames } from "../server/stream/send-message.ts"
import { readWaits } from "./questions.ts"
import { type Answer, answerOf, asPromised } from "./answer.ts"
import { areSameFiles, type NewFile, storeNewFiles } from "./files.ts"
import { followConversation, idFrom, lookUntil, runAt, unlessTakenBack } from "./follow.ts"
import { QuestionSchema } from "./option-schemas.ts"
import { type PartialAnswer, PartialAnswers } from "./partial-answer.ts"
import type { EventsOrigin } from "./run-response.ts"
import { orClosed, type PawlEvent, type PersonalParts, refuseClosed } from "./parts.ts"

/**
 * Options for a new conversation. They are ignored if the conversation exists; use `conversations.change` to change
 * one.
 */
interface ConversationStart {
  /** The name of the agent. Default: the first agent. */
  readonly agent?: string
  /** The name of the model. Default: the default model. */
  readonly model?: string
  /**
   * `confirm` (default): a person approves each write. `auto`: writes run without approval. `read-only`: writes are
   * refused.
   */
  readonly mode?: Mode
  readonly title?: string
}

/** Options of `ask`: the conversation to continue, or the settings of a new one, and how the message is processed. */
export interface AskOptions extends ConversationStart {
  /** The id of the conversation to continue. Default: a new conversation. */
  readonly conversation?: string
  /**
   * An idempotency key. A repeated call with the same key, for example after a crash or a lost connection, returns the
   * answer to the first call. Without `conversation`, the key also identifies the new conversation. A message that was
   * withdrawn from the queue before its run started (`message_withdrawn`) can be sent again with the same key.
   */
  readonly key?: string
  /**
   * How to proceed if the conversation has an active run: queue the message (`queue`), add it to the active run at the
   * next safe point (`steer`), or throw `busy` (`reject`).
   */
  readonly when?: "queue" | "steer" | "reject"
  /**
   * Images, PDFs and texts for the model, at most 10. Throws `model_lacks_images` if it does not see images,
   * `message_file_too_large` above 25 MB, and `file_refused` for other kinds of files.
   */
  readonly files?: readonly (NewFile | File)[]
  /** The most model replies with tool calls in this run. */
  readonly maxIterations?: number
  /** The IANA time zone of the user, for words such as "today". */
  readonly timeZone?: string
  /**
   * A person can answer questions of MCP servers during this run, which wait some minutes. Without it, such a server
   * learns that there is no answer. Tools of agents ask in any case.
   */
  readonly attended?: boolean
  /** Reply settings for this message. They take precedence over those of the conversation. */
  readonly settings?: ReplySettings
  /**
   * A schema for the answer, which is then returned as `value`. A reply that does not fit is sent back to the model for
   * correction, at most twice; after that the run fails with `answer_unfit`.
   */
  readonly answers?: Schema<unknown>
  /**
   * Cancels this question, whose answer is then `cancelled`. Other queued questions still run. If no run has started,
   * the question is not sent and the signal's reason is thrown.
   */
  readonly signal?: AbortSignal
}

/**
 * Sends a message and yields the events of its run. The iterator returns the answer. The message is sent when the first
 * event is requested.
 */
export async function* streamAnswer(
  parts: PersonalParts,
  text: string,
  options: AskOptions = {},
  origin: EventsOrigin = {},
): AsyncGenerator<PawlEvent | PartialAnswer, Answer, undefined> {
  const asked = check(QuestionSchema, { ...options, text })
  const { signal } = asked
  const { closing, store } = parts
  signal?.throwIfAborted()
  refuseClosed(parts)
  const { id, user, message, after, waits } = await orClosed(parts, enter(parts, asked))
  origin.find = async () => {
    const place = await store.conversations.placeOf(id, message)
    const run = typeof place === "number" ? await runAt(parts, id, place) : undefined
    return run && { id, run }
  }
  const source = await followConversation(parts, { id, user, after: { position: after, offset: 0 } })
  const run = new RunFrames(source, { message })
  const frames = waits ? unlessTakenBack(parts, run, { id, message, position: after }) : run
  const leave = () => frames.close()
  const stop = AbortSignal.any(signal ? [signal, closing] : [closing])
  stop.addEventListener("abort", leave, { once: true })
  const over = new AbortController()
  let isWatching = false
  let idleAt: string | undefined
  const leaveIfIdle = () => {
    if (isWatching) return
    isWatching = true
    // It has nothing more to show until the user answers a question, or decides about a write of a sub-agent.
    const look = async () => {
      if (over.signal.aborted) return { isIdle: false, position: 0 }
      const waits = run.begun ? await readWaits(parts, id) : undefined
      return waits?.isIdle ? waits : undefined
    }
    lookUntil(parts, id, look).then(
      ({ isIdle, position }) => {
        if (!isIdle) return
        source.closeAfter(position)
        idleAt = String(position)
      },
      () => {},
    )
  }
  if (parts.hasSubAgents) leaveIfIdle()
  try {
    if (stop.aborted) leave()
    const partials = asked.answers && new PartialAnswers()
    for (let some = await frames.next(); some; some = await frames.next())
      for (const event of some as PawlEvent[]) {
        yield event
        if (event.type === "step" && event.data.step === QUESTION) leaveIfIdle()
        const partial = partials?.read(event)
        if (partial) yield partial
      }
  } finally {
    over.abort()
    stop.removeEventListener("abort", leave)
    leave()
  }
  refuseClosed(parts)
  if (signal?.aborted) await takeBack(parts, id, message)
  const started = await origin.find()
  // The message was withdrawn before its run, by this signal or another client, or its conversation was erased.
  if (!started) signal?.throwIfAborted()
  if (!started)
    throw failure((await store.conversations.placeOf(id, message)) === undefined ? "message_withdrawn" : "internal")
  const answer = await asPromised(await answerOf(parts, id, started.run), asked.answers)
  // Every event up to there was emitted, and more may have been recorded since.
  return answer.status === "waiting" && idleAt !== undefined ? { ...answer, cursor: idleAt } : answer
}

/** Sends a message and returns the answer, without the events. */
export async function askAndWait(parts: PersonalParts, text: string, options?: AskOptions): Promise<Answer> {
  const events = streamAnswer(parts, text, options)
  for (;;) {
    const { done, value: answer } = await events.next()
    if (done) return answer
  }
}

function toAnswerSchema(answers: Schema<unknown>): JsonObject {
  const { $schema: _, ...json } = answers["~standard"].jsonSchema.input({ target: "draft-07" })
  return json
}

type Question = z.infer<typeof QuestionSchema>

interface Entered {
  readonly id: ConversationId
  readonly user: UserId
  readonly message: MessageId
  /** Only events after this journal position belong to the message. */
  readonly after: number
  /** The message is queued because the conversation has an active run. */
  readonly waits: boolean
}

/** Stores the message, unless its key was used before. */
async function enter(parts: PersonalParts, asked: Question): Promise<Entered> {
  const { runtime, store } = parts
  const { text, key, maxIterations, timeZone, settings, answers } = asked
  const schema = answers ? toAnswerSchema(answers) : asked.schema
  const when = asked.when ?? "queue"
  const user = await parts.user()
  if (schema) await parts.ports.answerSchema?.(schema, user)
  const said = { ...(timeZone ? { timeZone } : {}), ...(settings ? { settings } : {}), ...(schema ? { schema } : {}) }
  const attended = asked.attended ? ({ attended: true } as const) : {}
  const more = { ...(maxIterations ? { maxIterations } : {}), ...attended, ...said }
  const files = await storeNewFiles(parts, asked.files ?? [], { user, model: () => modelOf(parts, user, asked) })
  const input = async (conversation: ConversationId, id: MessageId): Promise<MessageInput> => {
    const used = await useFiles(store, user, { conversation, message: id }, files)
    return { type: "message", id, text, when, ...more, ...used }
  }
  if (asked.conversation === undefined && key === undefined) {
    const [id, message] = [newId("conv", user, store.clock.now()), newId("msg", user)]
    const start = await toConversationStart(parts, user, asked)
    await runtime.begin({ ...start, id }, await input(id, message))
    return { id, user, message, after: 0, waits: false }
  }
  const id = await conversationFor(parts, user, asked)
  const { position } = await conversationOf(store, user, id)
  const message = key === undefined ? newId("msg", user) : idFrom("msg", [id, key])
  if (key !== undefined) {
    const place = await store.conversations.placeOf(id, message)
    if (place !== undefined) return enteredBefore(parts, { id, user, message, text, files, place, position })
  }
  const waits = (await runtime.submit(id, await input(id, message))) === "kept"
  // Another caller may have used the key concurrently. The recorded message counts.
  if (key !== undefined) await refuseOtherWords(parts, { id, user, message, text, files })
  return { id, user, message, after: position, waits }
}

interface Before extends Omit<Entered, "after" | "waits"> {
  readonly text: string
  readonly files: readonly FileId[]
  readonly place: number | "waiting"
  readonly position: number
}

async function enteredBefore(parts: PersonalParts, before: Before): Promise<Entered> {
  const { store } = parts
  const { id, user, message, place, position } = before
  await refuseOtherWords(parts, before)
  if (place === "waiting") return { id, user, message, after: position, waits: true }
  const start = await store.conversations.runStart(id, place)
  // A message that starts a run follows the row that starts it. A message that joined an active run has no such row.
  return { id, user, message, after: (place === start + 1 ? start : place) - 1, waits: false }
}

async function refuseOtherWords(
  { store }: PersonalParts,
  { id, user, message, text, files }: Omit<Before, "place" | "position">,
): Promise<void> {
  // In this order: a message may move from the queue to the journal in between, but never back.
  const queued = await store.queue.find(id, message)
  const recorded = await store.conversations.message(id, message)
  const said = recorded?.content ?? queued?.text
  if (said === undefined) return
  const asked = { recorded: (recorded ?? queued)?.files, ids: files }
  if (said !== text || !(await areSameFiles(store, user, asked))) throw failure("key_reused")
}

/** The model that the message will be sent to: the conversation's, or the one that a new conversation gets. */
async function modelOf(parts: PersonalParts, user: UserId, asked: Question): Promise<string | null> {
  const { conversation, key } = asked
  const id = conversation ?? (key === undefined ? undefined : idFrom("conv", [user, key]))
  const found = id !== undefined && isId("conv", id) ? await parts.store.conversations.find(user, id) : undefined
  return found ? found.model : ((await toConversationStart(parts, user, asked)).model ?? null)
}

/** Returns the conversation to use. Creates it if a key identifies a conversation that does not exist yet. */
async function conversationFor(parts: PersonalParts, user: UserId, asked: Question): Promise<ConversationId> {
  const { conversation, key = "", agent, model, mode, title } = asked
  if (conversation !== undefined) {
    const late = Object.entries({ agent, model, mode, title }).find(([, value]) => value != null)
    if (late) {
      const problem = `${late[0]}: it is set when a conversation starts, and this one has. ${late[0] === "agent" ? "A handoff lets another agent continue it." : "Use conversations.change."}`
      throw failure("bad_request", { problem })
    }
    if (!isId("conv", conversation)) throw failure("not_found")
    return conversation
  }
  const { conversations } = parts.store
  const id = idFrom("conv", [user, key])
  if (await conversations.find(user, id)) return id
  try {
    await parts.runtime.begin({ ...(await toConversationStart(parts, user, asked)), id })
  } catch (error) {
    // Another caller with the same key was first.
    if (!(await conversations.find(user, id))) throw error
  }
  return id
}

async function toConversationStart(
  { ports, store }: PersonalParts,
  user: UserId,
  { agent, model, mode, title }: Question,
): Promise<Beginning> {
  const { agents, models, policy } = ports
  if (mode === "auto" && policy.forbidAuto) throw failure("mode_forbidden", { mode })
  const chosen = model == null ? undefined : await models.get(model, user)
  return {
    user,
    agent: agent ?? agents.all[0]?.name ?? "",
    ...(chosen
      ? { model: model ?? chosen.name, provider: chosen.provider }
      : await lastChosenModel({ user, client: "program" }, { models, chosenModels: store.chosenModels })),
    ...(mode ? { mode } : {}),
    ...(title ? { title } : {}),
  }
}

/** Withdraws a message that its caller cancelled: from the queue, or by cancelling its run. */
async function takeBack(parts: PersonalParts, id: ConversationId, message: MessageId): Promise<void> {
  const { store, runtime } = parts
  const { bus } = parts.ports
  if (await store.queue.withdraw(id, message)) return bus.wake(id)
  const user = await parts.user()
  const place = await store.conversations.placeOf(id, message)
  const mine = typeof place === "number" ? await runAt(parts, id, place) : undefined
  const [newest] = (await store.conversations.runs(id, { limit: 1 })).items
  // Cancels only the run of this message, not one of another message.
  if (mine && newest?.id === mine.runId) await runtime.submit(id, { type: "cancel", by: user, run: mine.runId })
}
