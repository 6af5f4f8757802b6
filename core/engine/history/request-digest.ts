import { createHash, hash } from "node:crypto"
import { crc32 } from "node:zlib"
import type { RecordedModelCall } from "../../protocol/conversation/stages.ts"
import type { HistoryMessage, ModelRequest, ShownFile, ToolDeclaration } from "../model.ts"

/** The version of the digests. Those of another version are ignored, because nothing would be equal. */
const VERSION = "2"
/** The previous version had more characters of the same digests, with dots between them. */
const LONGER = "1"
/** Base64url characters, six bits each, for values that seldom change. */
const LENGTH = 4
/** How many of the newest messages have a recorded digest: a request usually has two more than the one before it. */
const NEWEST = 2
/**
 * Follows the number of messages if they differ from those of the state, so that the next digest cannot continue from
 * them.
 */
const CHANGED = "c"

/**
 * The digests of a request, as recorded with its reply: system prompt, tools, options, shown files, the number of
 * messages, and for the newest messages the digest of everything up to each. They cover the exact bytes in their order,
 * like a provider's cache. `maxOutputTokens` is excluded: under a cost limit it depends on other spending.
 */
export interface RequestDigest {
  readonly system: string
  readonly tools: string
  readonly options: string
  readonly files: string
  readonly messages: number
  /** The digests of the newest messages, oldest first. */
  readonly newest: readonly string[]
}

/** `asked`: with the state's history, or a changed one; `sent`: the same with file contents. */
export function digestRequest(asked: ModelRequest, sent: ModelRequest, stored: readonly HistoryMessage[]): string {
  const { system, tools, history } = asked
  const options = ofOptions(asked)
  const files = sent === asked ? "" : ofFiles(sent.history)
  const count = history === stored ? `${history.length}` : `${history.length}${CHANGED}`
  return `${VERSION}${ofSystem(system)}${ofTools(tools)}${options}${files}.${count}.${ofHistory(history).newest.join(".")}`
}

/** Reads a recorded digest; undefined if it is malformed. */
export function readDigest(recorded: string): RequestDigest | undefined {
  const all = recorded.split(".")
  const [messages = "", ...newest] = ofMessages(all)
  const first = all[0]?.slice(VERSION.length) ?? ""
  const parts =
    all[0] === LONGER ? all.slice(1, 5) : [0, 1, 2, 3].map((part) => first.slice(part * LENGTH, (part + 1) * LENGTH))
  const [system, tools, options, files] = parts.map((part) => part.slice(0, LENGTH))
  if (!system || !tools || !options || files === undefined || !/^\d+c?$/.test(messages)) return undefined
  return { system, tools, options, files, messages: Number.parseInt(messages, 10), newest }
}

/** The number of messages and the digests of the newest, of either version. */
function ofMessages(all: readonly string[]): string[] {
  const [first = ""] = all
  return first === LONGER ? all.slice(5) : first.startsWith(VERSION) ? all.slice(1) : []
}

/** The digest up to each message. For comparisons: the loop stores only the newest. */
export function digestsOf(history: readonly HistoryMessage[]): string[] {
  let before = ""
  return history.map((message) => (before = after(before, message)))
}

/** How far a list was digested, and the digests of its newest messages. */
export interface Digested {
  count: number
  newest: string[]
}

/**
 * By the state's list of messages, which only grows: digested messages are not read again, so a request costs the same
 * in a long conversation as in a short one. A list that was cut is a new one.
 */
const digested = new WeakMap<readonly HistoryMessage[], Digested>()

function ofHistory(history: readonly HistoryMessage[]): Digested {
  let known = digested.get(history)
  if (!known) digested.set(history, (known = { count: 0, newest: [] }))
  const { newest } = known
  for (; known.count < history.length; known.count++) {
    newest.push(after(newest.at(-1) ?? "", history[known.count] as HistoryMessage))
    if (newest.length > NEWEST) newest.shift()
  }
  return known
}

/**
 * Continues from a recorded digest after the state was read from disk, so that thousands of earlier messages are not
 * digested again. `history`: as it was before the reply.
 */
export function continueDigest(recorded: string, history: readonly HistoryMessage[]): void {
  if (digested.get(history)?.count === history.length) return // this process sent it
  const [messages, ...newest] = ofMessages(recorded.split("."))
  if (messages === String(history.length)) digested.set(history, { count: history.length, newest })
}

/** For a snapshot, which does not have the replies to continue from; undefined before the first request. */
export const digestedOf = (history: readonly HistoryMessage[]): Digested | undefined => digested.get(history)

export const goOnWith = (known: Digested, history: readonly HistoryMessage[]): void => void digested.set(history, known)

/**
 * A checksum for each message that continues from the one before it: each request has new messages, and SHA-256 takes
 * three times as long.
 */
const after = (before: string, message: HistoryMessage): string =>
  crc32(JSON.stringify(message), before === "" ? 0 : Number.parseInt(before, 36)).toString(36)
const digest = (text: string): string => hash("sha256", text, "base64url").slice(0, LENGTH)

/** Remembers the last value, because instructions and options seldom change. */
function remembering(of: (text: string) => string): (text: string) => string {
  let last = { text: "", digest: of("") }
  return (text) => {
    if (last.text !== text) last = { text, digest: of(text) }
    return last.digest
  }
}

const ofSystem = remembering(digest)

let lastOptions = { toolChoice: "", settings: undefined as unknown, answerSchema: undefined as unknown, digest: "" }

/** By identity, too: most requests have none. */
function ofOptions({ toolChoice, settings, answerSchema }: ModelRequest): string {
  const last = lastOptions
  if (last.toolChoice !== toolChoice || last.settings !== settings || last.answerSchema !== answerSchema) {
    const known = digest(JSON.stringify([toolChoice, settings, answerSchema]))
    lastOptions = { toolChoice, settings, answerSchema, digest: known }
  }
  return lastOptions.digest
}

let lastTools = { tools: [] as readonly ToolDeclaration[], digest: digest("[]") }

/** By identity: a tool creates its declaration once. */
function ofTools(tools: readonly ToolDeclaration[]): string {
  const { tools: last } = lastTools
  let at = tools.length === last.length ? 0 : -1
  while (at >= 0 && at < tools.length && tools[at] === last[at]) at++
  if (at !== tools.length) lastTools = { tools, digest: digest(JSON.stringify(tools)) }
  return lastTools.digest
}

/** A file's bytes are not read for this, because the message names them by their hash. */
function ofFiles(history: readonly HistoryMessage[]): string {
  const shown = history.flatMap((turn, at) =>
    turn.role !== "assistant" && turn.shown ? [[at, turn.shown.map(toWords)]] : [],
  )
  return digest(JSON.stringify(shown))
}

const toWords = (file: ShownFile): unknown =>
  file.type === "words" ? file.text : [file.text, file.name, file.mediaType, file.bytes.length]

/** Base64url characters, six bits each. */
const QUESTION_LENGTH = 8

/**
 * Digests of a request that is not for a reply (a decision of a stage, a summary, a title): its instructions and its
 * messages, so that `pawl replay` can tell whether the same request would be sent.
 */
export const digestAside = ({ system, history }: ModelRequest): Pick<RecordedModelCall, "promptHash" | "question"> => ({
  promptHash: createHash("sha256").update(system).digest("hex"),
  question: hash("sha256", JSON.stringify(history), "base64url").slice(0, QUESTION_LENGTH),
})
