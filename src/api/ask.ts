import { createHash } from "node:crypto"
import type { z } from "zod"
import type { Beginning, MessageInput } from "../agent/input.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId, type MessageId, newId, type UserId } from "../protocol/ids.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { parse, type Schema } from "../agent/definition/schema.ts"
import type { JsonObject, Mode } from "../protocol/schema.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { check } from "../server/request/read-input.ts"
import { RunFrames } from "../server/stream/run-frames.ts"
import { type Answer, answerOf, runAt } from "./answer.ts"
import { orClosed, refuseClosed } from "./closed.ts"
import { followConversation } from "./follow.ts"
import { GivenQuestion } from "./given.ts"
import type { PersonalParts } from "./parts.ts"
import type { PawlEvent } from "./read-only.ts"
import { unlessTakenBack } from "./taken-back.ts"

/** What a conversation begins with. It counts for a new one only; `conversations.change` is for one that there is. */
export interface ConversationStart {
  /** Whom to ask; the first of the agents without. */
  readonly agent?: string
  /** Which model; the default one without. */
  readonly model?: string
  /** `confirm` without: writes wait for a person. `auto` agrees to them, `read-only` has none. */
  readonly mode?: Mode
  readonly title?: string
}

export interface AskOptions extends ConversationStart {
  /** Goes on with this one; a new one without. */
  readonly conversation?: string
  /**
   * Makes it safe to ask again: one key is asked once, for good. Whoever asks again, after a crash or a lost connection,
   * gets the answer to the first. Without a conversation the key also names the one that it begins. What was taken back
   * before it had its turn (`message_withdrawn`) was not asked, and can be, with the same key.
   */
  readonly key?: string
  /** While the conversation works on something else: wait for its end, enter at the next safe point, or be refused. */
  readonly when?: "queue" | "steer" | "reject"
  /** How many replies with calls it may take. */
  readonly maxIterations?: number
  /** Where the person is: what "today" means to them. */
  readonly timeZone?: string
  /** How the model replies to this, whatever the conversation says. */
  readonly settings?: ReplySettings
  /**
   * What the answer has to be: JSON that fits, which is its `value` then. One that does not fit is mended, twice at most, or
   * the run fails with `answer_unfit`.
   */
  readonly answers?: Schema<unknown>
  /** Stops the work on this question. Others that wait in the conversation have their turn. */
  readonly signal?: AbortSignal
}

/** Asks, and tells what happens until there is an answer, which is what the iteration returns. Nothing is asked before the first event is. */
export async function* streamAnswer(
  parts: PersonalParts,
  text: string,
  options: AskOptions = {},
): AsyncGenerator<PawlEvent, Answer, undefined> {
  const asked = check(GivenQuestion, { ...options, text })
  const { signal } = asked
  const { closing, store } = parts
  signal?.throwIfAborted()
  refuseClosed(parts)
  const { id, user, message, after, waits } = await orClosed(parts, enter(parts, asked))
  const source = await followConversation(parts, { id, user, after: { position: after, offset: 0 } })
  const run = new RunFrames(source, { message })
  const frames = waits ? unlessTakenBack(parts, run, { id, message, position: after }) : run
  const leave = () => frames.close()
  const stop = AbortSignal.any(signal ? [signal, closing] : [closing])
  stop.addEventListener("abort", leave, { once: true })
  try {
    if (stop.aborted) leave()
    for (let some = await frames.next(); some; some = await frames.next()) yield* some as PawlEvent[]
  } finally {
    stop.removeEventListener("abort", leave)
    leave()
  }
  refuseClosed(parts)
  if (signal?.aborted) await takeBack(parts, id, message)
  signal?.throwIfAborted()
  const place = await store.conversations.placeOf(id, message)
  const started = typeof place === "number" ? await runAt(parts, id, place) : undefined
  // Somebody has taken the message back before it had its turn, or erased the conversation.
  if (!started) throw failure(place === undefined ? "message_withdrawn" : "internal")
  return asPromised(await answerOf(parts, id, started), asked.answers)
}

/** The same for whoever wants nothing but the answer. */
export async function askAndWait(parts: PersonalParts, text: string, options?: AskOptions): Promise<Answer> {
  const events = streamAnswer(parts, text, options)
  for (;;) {
    const { done, value: answer } = await events.next()
    if (done) return answer
  }
}

/** As the schema of a program reads it, with its transforms; what only the program's schema knows is found out here. */
async function asPromised(answer: Answer, answers: Schema<unknown> | undefined): Promise<Answer> {
  if (answer.status !== "answered" || !answers) return answer
  const parsed = await parse(answers, answer.value)
  if ("value" in parsed) return { ...answer, value: parsed.value }
  const { finish: _, value: __, ...asked } = answer
  // As it is told of every other run: the message of an error is lost where an answer is made JSON.
  const { code, message } = failure("answer_unfit", { problem: parsed.problem, times: 0 })
  return { ...asked, status: "failed", error: { code, message } }
}

function toAnswerSchema(answers: Schema<unknown>): JsonObject {
  const { $schema: _, ...json } = answers["~standard"].jsonSchema.input({ target: "draft-07" })
  return json
}

type Question = z.infer<typeof GivenQuestion>

interface Entered {
  readonly id: ConversationId
  readonly user: UserId
  readonly message: MessageId
  /** What happens behind this place belongs to the message, or comes before it. */
  readonly after: number
  /** It is kept in the inbox of a conversation that is at work. */
  readonly waits: boolean
}

/** Makes the question durable, unless its key was asked before. */
async function enter(parts: PersonalParts, asked: Question): Promise<Entered> {
  const { runtime, store } = parts
  const { text, key, maxIterations, timeZone, settings, answers } = asked
  const schema = answers ? toAnswerSchema(answers) : asked.schema
  if (schema) await parts.ports.answerSchema?.(schema)
  const when = asked.when ?? "queue"
  const user = await parts.user()
  const said = { ...(timeZone ? { timeZone } : {}), ...(settings ? { settings } : {}), ...(schema ? { schema } : {}) }
  const more = { ...(maxIterations ? { maxIterations } : {}), ...said }
  const input = (id: MessageId): MessageInput => ({ type: "message", id, text, when, ...more })
  if (asked.conversation === undefined && key === undefined) {
    const message = newId("msg", user)
    const { id } = await runtime.begin(await toBeginning(parts, user, asked), input(message))
    return { id, user, message, after: 0, waits: false }
  }
  const id = await conversationFor(parts, user, asked)
  const { position } = await conversationOf(store, user, id)
  const message = key === undefined ? newId("msg", user) : toId("msg", [id, key])
  if (key !== undefined) {
    const place = await store.conversations.placeOf(id, message)
    if (place !== undefined) return enteredBefore(parts, { id, user, message, text, place, position })
  }
  const waits = (await runtime.submit(id, input(message))) === "kept"
  // Somebody may have asked with the same key in this moment: what is on record is what was asked.
  if (key !== undefined) await refuseOtherWords(parts, { id, message, text })
  return { id, user, message, after: position, waits }
}

interface Before extends Omit<Entered, "after" | "waits"> {
  readonly text: string
  readonly place: number | "waiting"
  readonly position: number
}

async function enteredBefore(parts: PersonalParts, before: Before): Promise<Entered> {
  const { store } = parts
  const { id, user, message, place, position } = before
  await refuseOtherWords(parts, before)
  if (place === "waiting") return { id, user, message, after: position, waits: true }
  const start = await store.conversations.runStart(id, place)
  // Words stand right behind the row that starts their run; those that were let into a working one stand alone.
  return { id, user, message, after: (place === start + 1 ? start : place) - 1, waits: false }
}

async function refuseOtherWords(
  { store }: PersonalParts,
  { id, message, text }: Pick<Before, "id" | "message" | "text">,
): Promise<void> {
  // In this order: it may be taken from the queue in between, and never goes back.
  const queued = (await store.queue.list(id)).find((each) => each.id === message)
  const said = (await store.conversations.message(id, message))?.content ?? queued?.text
  if (said !== undefined && said !== text) throw failure("key_reused")
}

/** The conversation that is meant, made now if it is one that a key names and nobody has. */
async function conversationFor(parts: PersonalParts, user: UserId, asked: Question): Promise<ConversationId> {
  const { conversation, key = "", agent, model, mode, title } = asked
  if (conversation !== undefined) {
    const late = Object.entries({ agent, model, mode, title }).find(([, value]) => value != null)
    if (late) {
      const problem = `${late[0]}: that counts when a conversation begins; this one has. See conversations.change.`
      throw failure("bad_request", { problem })
    }
    if (!isId("conv", conversation)) throw failure("not_found")
    return conversation
  }
  const { conversations } = parts.store
  const id = toId("conv", [user, key])
  if (await conversations.find(user, id)) return id
  try {
    await parts.runtime.begin({ ...(await toBeginning(parts, user, asked)), id })
  } catch (error) {
    // Somebody asks with the same key in this moment, and was first.
    if (!(await conversations.find(user, id))) throw error
  }
  return id
}

async function toBeginning(
  { ports }: PersonalParts,
  user: UserId,
  { agent, model, mode, title }: Question,
): Promise<Beginning> {
  const { agents, models, policy } = ports
  if (mode === "auto" && policy.forbidAuto) throw failure("mode_forbidden", { mode })
  const chosen = model == null ? undefined : await models.get(model, user)
  return {
    user,
    agent: agent ?? agents.all[0]?.name ?? "",
    ...(chosen ? { model: model ?? chosen.name, provider: chosen.provider } : {}),
    ...(mode ? { mode } : {}),
    ...(title ? { title } : {}),
  }
}

/** Whoever asked does not want it any more: out of the queue, or out of the work. */
async function takeBack(parts: PersonalParts, id: ConversationId, message: MessageId): Promise<void> {
  const { store, runtime } = parts
  const { bus } = parts.ports
  if (await store.queue.withdraw(id, message)) return bus.wake(id)
  const user = await parts.user()
  const place = await store.conversations.placeOf(id, message)
  const mine = typeof place === "number" ? await runAt(parts, id, place) : undefined
  const [newest] = (await store.conversations.runs(id, { limit: 1 })).items
  // Another run is another question's: that one goes on.
  if (mine && newest?.id === mine.runId) await runtime.submit(id, { type: "cancel", by: user, run: mine.runId })
}

/** An id that the same words always lead to. It begins as if it were very old: of when it was made it says nothing. */
function toId<Prefix extends "conv" | "msg">(
  prefix: Prefix,
  words: readonly string[],
): Prefix extends "conv" ? ConversationId : MessageId {
  const hash = createHash("sha256").update(JSON.stringify(words)).digest("base64url")
  return `${prefix}_00000000${hash}` as Prefix extends "conv" ? ConversationId : MessageId
}
