import type { Context } from "hono"
import {
  refuseText,
  type ClientResult,
  type MessageInput,
  changeModel,
  conversationForKey,
  messageIdFor,
  readKey,
  namedFiles,
  chooserOf,
  lastChosenModel,
  toBeginning,
  userOf,
  type Env,
  keepFiles,
  type FrameSource,
  bringResults,
  subscribe,
  framesOfRun,
  sayAndWatch,
  watchRepeated,
  type ServerPorts,
  isServerRun,
  conversationOf,
} from "../../core/adapter.ts"
import { type AskedAnswer, toAskedMessage } from "./requests.ts"
import { readCallId } from "./content.ts"
import type { NamedModel } from "./model-names.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../core/protocol/errors.ts"
import { MAX_BODY_BYTES } from "../../core/protocol/requests.ts"
import { type ConversationId, type FileId, newId, type RunId, isId } from "../../core/protocol/ids.ts"

export interface WantedRun {
  readonly asked: AskedAnswer
  readonly named: NamedModel
  /** The conversation that it goes on with; without one it begins its own. */
  readonly conversation: string | undefined
  /** The same by its newest run: what was said since would be passed over otherwise. */
  readonly after?: RunId | undefined
  /** All that was asked: with the same key it has to be the same. */
  readonly body: unknown
}

export interface OpenedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** Of a run that goes on with results: where. */
  readonly part?: number
}

/** One request on its way to its run. */
interface Opening {
  readonly c: Context<Env>
  readonly ports: ServerPorts
  readonly wanted: WantedRun
  readonly mode: "read-only" | undefined
  readonly message: MessageInput
  readonly files: readonly FileId[]
}

/**
 * Says what was asked, in a conversation of its own or in one that goes on, and gives the run that answers. All that can be
 * refused is looked at before anything is changed, and what is only repeated changes nothing.
 */
export async function openRun(c: Context<Env>, ports: ServerPorts, wanted: WantedRun): Promise<OpenedRun> {
  const { asked, named } = wanted
  const mode = readWrites(c) === "refuse" ? "read-only" : undefined
  ports.agents.get(named.agent)
  if (asked.schema) await ports.answerSchema?.(asked.schema, userOf(c))
  ports.streams.admit(c.get("caller"))
  const outputs = readOutputs(asked)
  const conversation = wanted.conversation ?? (wanted.after ? undefined : outputs[0]?.conversation)
  const found = await findNamed(c, ports, { ...wanted, conversation })
  if (outputs.some((output) => output.conversation !== found?.id)) throw failure("not_found")
  if (asked.words === undefined && found) return bring(c, ports, { found, agent: named.agent, outputs })
  refuseLongText(c, asked)
  const { message, files, ignored } = toAskedMessage(c, asked, { goesOn: found !== undefined, results: outputs })
  refuseText(message)
  if (files.some(({ kind }) => kind === "an image")) await requireSight(c, ports, named.model ?? found?.model)
  const kept = files.length > 0 ? await keepFiles(userOf(c), ports, files) : []
  const opening: Opening = { c, ports, wanted, mode, message, files: kept }
  const opened = await (found ? goOn(opening, found) : begin(opening))
  c.header("x-pawl-conversation", opened.id)
  if (ignored.length > 0) c.header("x-pawl-ignored", ignored.join(", "))
  return opened
}

/** What functions have answered, by the calls that they are for. Of those that are not ours nothing is known here. */
function readOutputs({ words, outputs }: AskedAnswer): (ClientResult & { readonly conversation: ConversationId })[] {
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

/** Brings what functions have answered, and gives the run that goes on with it. */
async function bring(c: Context<Env>, ports: ServerPorts, { found, agent, outputs }: Bringing): Promise<OpenedRun> {
  requireFit(found, { agent, mode: undefined })
  try {
    const { id } = found
    const results = outputs.map(({ callId, status, text }) => ({ callId, status, text }))
    refuseText({ type: "client_results", results, by: userOf(c) })
    const brought = await bringResults(ports, { user: userOf(c), id, results })
    c.header("x-pawl-conversation", id)
    return { id, ...brought }
  } catch (error) {
    // A client that tries again by itself would find the same: its results are there, or are not wanted any more. What
    // could not be kept while the run was at work may come again.
    if (!hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

async function goOn(opening: Opening, found: ConversationView): Promise<OpenedRun> {
  requireFit(found, { agent: opening.wanted.named.agent, mode: opening.mode })
  return sayOnce(opening, { place: found, isTaken: false })
}

async function begin(opening: Opening): Promise<OpenedRun> {
  const { c, ports, wanted, mode, message } = opening
  const { named } = wanted
  const beginWith = async (id: ConversationId, first?: MessageInput) =>
    ports.runtime.begin({ ...(await toBeginning(c.get("caller"), ports, { ...named, mode })), id }, first)
  const key = readKey(c)
  if (key !== undefined) {
    const place = await conversationForKey(ports, { user: userOf(c), key, begin: beginWith })
    // Words that are there are this request's or of another that had the key before: what it stood for is forgotten in a day.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    const isOther = place.agent !== named.agent || (place.mode === "read-only") !== (mode === "read-only")
    return sayOnce(opening, { place, isTaken: hasWords || isOther })
  }
  const id = newId("conv", userOf(c), ports.clock.now())
  const said = await withFiles(opening, id, message)
  return saying(c, async () => {
    await beginWith(id, said)
    const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
    return { id, frames: framesOfRun(ports, source, { id, position: 0, message: message.id, waits: false }) }
  })
}

/** The words with their files, each of which stays from now on with the message that names it. */
async function withFiles(
  { c, ports, files }: Opening,
  id: ConversationId,
  message: MessageInput,
): Promise<MessageInput> {
  return { ...message, ...(await namedFiles(ports, userOf(c), { conversation: id, message: message.id }, files)) }
}

/** A body may be large because of its images. What it says besides them is bounded as every other body is. */
function refuseLongText(c: Context<Env>, { files, before }: AskedAnswer): void {
  const inBase64 = [...before.files, ...files].map((file) => (file.type === "bytes" ? (file.bytes.length * 4) / 3 : 0))
  const besides = Number(c.req.header("content-length") ?? 0) - inBase64.reduce((sum, length) => sum + length, 0)
  if (besides > MAX_BODY_BYTES)
    throw failure("bad_request", {
      problem: `The body is larger than ${MAX_BODY_BYTES} bytes without its images and files.`,
    })
}

/** A program cannot tell that its image was not shown: the answer would only be wrong. */
async function requireSight(c: Context<Env>, ports: ServerPorts, chosen: string | null | undefined): Promise<void> {
  const user = userOf(c)
  const name = chosen ?? (await lastChosenModel(chooserOf(c.get("caller")), ports)).model ?? null
  const model = await ports.models.get(name, user)
  if (model.sees?.images) return
  const seeing = (await ports.models.list(user)).filter(
    ({ available, features }) => available && features.includes("images"),
  )
  throw failure("model_lacks_images", {
    model: model.name,
    choices: seeing
      .slice(0, 3)
      .map((each) => each.name)
      .join(", "),
  })
}

interface Place {
  readonly place: ConversationView
  /** It is for other words than these, unless these are there already. */
  readonly isTaken: boolean
}

/** Says the words in a conversation, or gives the run of those that the key has brought before. */
async function sayOnce(opening: Opening, { place, isTaken }: Place): Promise<OpenedRun> {
  const { c, ports, wanted, message } = opening
  const { id, position } = place
  // Headers and address count as the body does: the same words with writes refused are another request.
  const body = [c.req.path, readWrites(c), wanted.body]
  const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
  const said = { ...message, id: messageId }
  const isThere = async () => repeated && (await ports.conversations.placeOf(id, messageId)) !== undefined
  const again = async (words: MessageInput): Promise<OpenedRun> => ({
    id,
    frames: (await watchRepeated(ports, { id, position, message: words, asItStands: true })).frames,
  })
  if (await isThere()) return again(said)
  const whole = await withFiles(opening, id, said)
  if (isTaken) throw failure("key_reused")
  const behind = wanted.after && (await newestRunBehind(ports, id, wanted.after))
  if (wanted.after && !behind) {
    if (await isThere()) return again(said) // by the other one of two that came at once
    const problem = `previous_response_id: the conversation has newer messages. Send \`conversation: "${id}"\` to continue it, or fork it.`
    throw failure("bad_request", { problem })
  }
  return saying(c, async () => {
    await changeModel(c.get("caller"), ports, { found: place, name: wanted.named.model })
    const words = { ...whole, ...(behind ? { behind } : {}) }
    try {
      return repeated ? await again(words) : { id, frames: await sayAndWatch(ports, place, words) }
    } catch (error) {
      if (!hasCode(error, "busy") || !(await isThere())) throw error
      return again(words) // the other one of two that came at once is at work on it
    }
  })
}

/**
 * From here on the words may have been said, also where that fails: a client that tries again by itself would say them
 * twice, unless a key says that they are the same. One that tries until a conversation is free again is not wanted at all.
 */
async function saying(c: Context<Env>, say: () => Promise<OpenedRun>): Promise<OpenedRun> {
  try {
    return await say()
  } catch (error) {
    if (readKey(c) === undefined || hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

/** `X-Pawl-Writes`: whether what would be changed waits for a person, which is the usual, or is refused. */
function readWrites(c: Context<Env>): "wait" | "refuse" {
  const given = c.req.header("x-pawl-writes") ?? "wait"
  if (given !== "wait" && given !== "refuse")
    throw failure("bad_request", { problem: "X-Pawl-Writes: wait or refuse." })
  return given
}

/** What a request names that goes on with something. */
interface Named {
  readonly conversation: string | undefined
  readonly after?: RunId | undefined
}

/** The conversation that a request goes on with, if it names one. Throws `not_found` for what is not the caller's. */
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

/** A conversation stays with its agent, and nobody's mode is changed by a header. */
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
 * The newest run, where nobody has said anything since `after`: a summary, an undo and a proposal that was made again are
 * runs of ours. Undefined where somebody has.
 */
export async function newestRunBehind(
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
