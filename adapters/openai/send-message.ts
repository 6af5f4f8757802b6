import type { Context } from "hono"
import {
  changeModel,
  chooserOf,
  type ClientResult,
  conversationForKey,
  conversationOf,
  type Env,
  type FrameSource,
  isServerRun,
  lastChosenModel,
  messageIdFor,
  type MessageInput,
  readIdempotencyKey,
  refuseText,
  requireSight,
  sendAndWatch,
  sendOnce,
  sendResults,
  type ServerPorts,
  storeFiles,
  toConversationStart,
  useFiles,
  userOf,
  watchFirstRun,
} from "../../core/adapter.ts"
import {
  type ConversationId,
  type ConversationView,
  failure,
  type FileId,
  hasCode,
  isId,
  MAX_BODY_BYTES,
  newId,
  type RunId,
} from "../../core/protocol/index.ts"
import { type AnswerRequest, toMessageInput } from "./requests.ts"
import { readCallId } from "./content.ts"
import type { NamedModel } from "./model-names.ts"

interface WantedRun {
  readonly asked: AnswerRequest
  readonly named: NamedModel
  /** The conversation to continue; undefined for a new one. */
  readonly conversation: string | undefined
  /** The run that must be the newest of its conversation: otherwise later messages would be skipped. */
  readonly after?: RunId | undefined
  /** The whole request, which must be equal for the same key. */
  readonly body: unknown
}

export interface OpenedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** The position from which it continues with results. */
  readonly part?: number
}

/** A request on its way to its run. */
interface Opening {
  readonly c: Context<Env>
  readonly ports: ServerPorts
  readonly wanted: WantedRun
  readonly mode: "read-only" | undefined
  readonly message: MessageInput
  readonly files: readonly FileId[]
}

/**
 * Sends the message, in a new conversation or an existing one, and returns its run. Everything that may be refused is
 * checked before anything changes; a repetition changes nothing.
 */
export async function openRun(c: Context<Env>, ports: ServerPorts, wanted: WantedRun): Promise<OpenedRun> {
  const { asked: request, named } = wanted
  const mode = readWrites(c) === "refuse" ? "read-only" : undefined
  ports.agents.get(named.agent)
  if (request.schema) await ports.answerSchema?.(request.schema, userOf(c))
  ports.streams.admit(c.get("caller"))
  const outputs = readOutputs(request)
  const conversation = wanted.conversation ?? (wanted.after ? undefined : outputs[0]?.conversation)
  const found = await findNamed(c, ports, { ...wanted, conversation })
  if (outputs.some((output) => output.conversation !== found?.id)) throw failure("not_found")
  if (request.words === undefined && found) return continueWith(c, ports, { found, agent: named.agent, outputs })
  refuseLongText(c, request)
  const { message, files, ignored } = toMessageInput(c, request, { goesOn: found !== undefined, results: outputs })
  refuseText(message)
  if (files.some(({ kind }) => kind === "an image")) await requireSightOf(c, ports, named.model ?? found?.model)
  const stored = files.length > 0 ? await storeFiles(userOf(c), ports, files) : []
  const opening: Opening = { c, ports, wanted, mode, message, files: stored }
  const opened = await (found ? goOn(opening, found) : begin(opening))
  c.header("x-pawl-conversation", opened.id)
  if (ignored.length > 0) c.header("x-pawl-ignored", ignored.join(", "))
  return opened
}

/** The results by call. Results for other ids are not ours. */
function readOutputs({ words, outputs }: AnswerRequest): (ClientResult & { readonly conversation: ConversationId })[] {
  return outputs.flatMap(({ id, text }) => {
    const named = readCallId(id)
    if (!named && words === undefined) throw failure("not_found")
    return named ? [{ ...named, status: "ok" as const, text }] : []
  })
}

interface Bringing {
  readonly found: ConversationView
  readonly agent: string
  readonly outputs: readonly ClientResult[]
}

/** Sends results of the caller's functions, and returns the continued run. */
async function continueWith(
  c: Context<Env>,
  ports: ServerPorts,
  { found, agent, outputs }: Bringing,
): Promise<OpenedRun> {
  requireFit(found, { agent, mode: undefined })
  try {
    const { id } = found
    const results = outputs.map(({ callId, status, text }) => ({ callId, status, text }))
    refuseText({ type: "client_results", results, by: userOf(c) })
    const sent = await sendResults(ports, { user: userOf(c), id, results })
    c.header("x-pawl-conversation", id)
    return { id, ...sent }
  } catch (error) {
    // An automatic retry would find the same: the results are recorded or obsolete. Only a busy run is worth retrying.
    if (!hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

async function goOn(opening: Opening, found: ConversationView): Promise<OpenedRun> {
  requireFit(found, { agent: opening.wanted.named.agent, mode: opening.mode })
  return sendQuestion(opening, { place: found, isTaken: false })
}

async function begin(opening: Opening): Promise<OpenedRun> {
  const { c, ports, wanted, mode, message } = opening
  const { named } = wanted
  const startWith = async (id: ConversationId, first?: MessageInput) =>
    ports.runtime.begin({ ...(await toConversationStart(c.get("caller"), ports, { ...named, mode })), id }, first)
  const key = readIdempotencyKey(c)
  if (key !== undefined) {
    const place = await conversationForKey(ports, { user: userOf(c), key, begin: startWith })
    // An existing message belongs to this request, or to an earlier one whose key has expired after a day.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    const isOther = place.agent !== named.agent || (place.mode === "read-only") !== (mode === "read-only")
    return sendQuestion(opening, { place, isTaken: hasWords || isOther })
  }
  const id = newId("conv", userOf(c), ports.clock.now())
  const input = await withFiles(opening, id, message)
  return withoutRetry(c, async () => {
    await startWith(id, input)
    return { id, frames: await watchFirstRun(ports, id, message.id) }
  })
}

/** The message with its files, which are now in use. */
async function withFiles(
  { c, ports, files }: Opening,
  id: ConversationId,
  message: MessageInput,
): Promise<MessageInput> {
  return { ...message, ...(await useFiles(ports, userOf(c), { conversation: id, message: message.id }, files)) }
}

/** A body may be large because of its images; everything else is limited as usual. */
function refuseLongText(c: Context<Env>, { files, before }: AnswerRequest): void {
  const inBase64 = [...before.files, ...files].map((file) => (file.type === "bytes" ? (file.bytes.length * 4) / 3 : 0))
  const besides = Number(c.req.header("content-length") ?? 0) - inBase64.reduce((sum, length) => sum + length, 0)
  if (besides > MAX_BODY_BYTES)
    throw failure("bad_request", {
      problem: `The body is larger than ${MAX_BODY_BYTES} bytes without its images and files.`,
    })
}

async function requireSightOf(c: Context<Env>, ports: ServerPorts, chosen: string | null | undefined): Promise<void> {
  const name = chosen ?? (await lastChosenModel(chooserOf(c.get("caller")), ports)).model ?? null
  await requireSight(ports.models, userOf(c), name)
}

interface Place {
  readonly place: ConversationView
  /** The key was used for another message, unless this one is already there. */
  readonly isTaken: boolean
}

/** Sends the message, or returns the run of the message that the key was used for. */
async function sendQuestion(opening: Opening, { place, isTaken }: Place): Promise<OpenedRun> {
  const { c, ports, wanted, message } = opening
  const { id } = place
  // Headers and path count like the body: the same message with refused writes is another request.
  const body = [c.req.path, readWrites(c), wanted.body]
  const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
  const input = { ...message, id: messageId }
  const isThere = async () => repeated && (await ports.conversations.placeOf(id, messageId)) !== undefined
  const attach = async (): Promise<OpenedRun> => ({ id, frames: await sendOnce(ports, place, input) })
  if (await isThere()) return attach()
  const whole = await withFiles(opening, id, input)
  if (isTaken) throw failure("key_reused")
  const behind = wanted.after && (await newestRunAfter(ports, id, wanted.after))
  if (wanted.after && !behind) {
    if (await isThere()) return attach() // by the other of two concurrent requests
    const problem = `previous_response_id: the conversation has newer messages. Send \`conversation: "${id}"\` to continue it, or fork it.`
    throw failure("bad_request", { problem })
  }
  return withoutRetry(c, async () => {
    await changeModel(c.get("caller"), ports, { found: place, name: wanted.named.model })
    const words = { ...whole, ...(behind ? { behind } : {}) }
    return { id, frames: await (repeated ? sendOnce : sendAndWatch)(ports, place, words) }
  })
}

/**
 * From here on the message may be recorded even if this fails: an automatic retry would record it twice without a key. A
 * retry until a busy conversation is free is not wanted either.
 */
async function withoutRetry(c: Context<Env>, say: () => Promise<OpenedRun>): Promise<OpenedRun> {
  try {
    return await say()
  } catch (error) {
    if (readIdempotencyKey(c) === undefined || hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

/** `X-Pawl-Writes`: whether writes wait for a person (the default) or are refused. */
function readWrites(c: Context<Env>): "wait" | "refuse" {
  const writes = c.req.header("x-pawl-writes") ?? "wait"
  if (writes !== "wait" && writes !== "refuse")
    throw failure("bad_request", { problem: "X-Pawl-Writes: wait or refuse." })
  return writes
}

interface Named {
  readonly conversation: string | undefined
  readonly after?: RunId | undefined
}

/** The conversation that a request continues, if any. Throws `not_found` if it is not the caller's. */
export async function findNamed(
  c: Context<Env>,
  ports: ServerPorts,
  { conversation, after }: Named,
): Promise<ConversationView | undefined> {
  const user = userOf(c)
  const id = after ? (await ports.conversations.run(user, after))?.conversationId : conversation
  if (id === undefined && !after) return undefined
  if (id === undefined || !isId("conv", id)) throw failure("not_found")
  return conversationOf(ports, user, id)
}

/** A conversation keeps its agent, and a header must not change its mode. */
export function requireFit(
  found: ConversationView,
  { agent, mode }: { readonly agent: string; readonly mode: "read-only" | undefined },
): void {
  if (found.agent !== agent)
    throw failure("bad_request", {
      problem: `model: this conversation is with pawl/${found.agent}; begin another one.`,
    })
  if (mode && found.mode !== mode)
    throw failure("bad_request", { problem: "X-Pawl-Writes: in this conversation writes wait; begin another one." })
}

/**
 * The newest run, if there was no message since `after`: summaries, undos and repeated proposals do not count. Undefined
 * otherwise.
 */
export async function newestRunAfter(
  { conversations, journal }: ServerPorts,
  id: ConversationId,
  after: RunId,
): Promise<RunId | undefined> {
  let newest: RunId | undefined
  for (let upTo = Number.MAX_SAFE_INTEGER; ;) {
    const start = await conversations.runStart(id, upTo)
    const [started] = start > 0 ? await journal.read(id, { after: start - 1, upTo: start }) : []
    if (started?.type !== "run_started" || !("runId" in started)) return undefined
    newest ??= started.runId
    if (started.runId === after) return newest
    if (!isServerRun(started)) return undefined
    upTo = start - 1
  }
}
