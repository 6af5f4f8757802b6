import { createHash, hash } from "node:crypto"
import { crc32 } from "node:zlib"
import type { RecordedModelCall } from "../../protocol/conversation/stages.ts"
import type { HistoryMessage, ModelRequest, ShownFile, ToolDeclaration } from "../model.ts"

/** How it is digested. One of another version is as good as none: nothing would be equal. */
const VERSION = "2"
/** The version before had more letters of the same digests, with dots between them. */
const LONGER = "1"
/** Letters of base64url, six bits each, of what seldom changes and is digested then. */
const LENGTH = 4
/** How many of the newest messages have a digest on record: a request nearly always has two more than the one before it. */
const NEWEST = 2
/** Behind the number of messages: they were not those that the fold holds, and what follows cannot go on from them. */
const CHANGED = "c"

/**
 * The digests of a request, as they are recorded with its reply: system prompt, tools, options, what is shown of files, the
 * number of messages, and of the newest messages what all up to each of them come to. Each is of the bytes as they were,
 * in their order: a provider's cache would tell them apart too. `maxOutputTokens` is not among them: under a ceiling it
 * follows from what others have spent meanwhile.
 */
export interface RequestDigest {
  readonly system: string
  readonly tools: string
  readonly options: string
  readonly files: string
  readonly messages: number
  /** Of the newest messages, oldest first. */
  readonly newest: readonly string[]
}

/** `asked`: with the history that the fold holds, or a changed one; `sent`: the same with what the model is shown of files. */
export function digestRequest(asked: ModelRequest, sent: ModelRequest, held: readonly HistoryMessage[]): string {
  const { system, tools, history } = asked
  const options = ofOptions(asked)
  const files = sent === asked ? "" : ofFiles(sent.history)
  const count = history === held ? `${history.length}` : `${history.length}${CHANGED}`
  return `${VERSION}${ofSystem(system)}${ofTools(tools)}${options}${files}.${count}.${ofHistory(history).newest.join(".")}`
}

/** What `digestRequest` has made; undefined for what is none. */
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

/** The number of messages and what the newest come to, of either version. */
function ofMessages(all: readonly string[]): string[] {
  const [first = ""] = all
  return first === LONGER ? all.slice(5) : first.startsWith(VERSION) ? all.slice(1) : []
}

/** What all messages up to each come to. For whoever compares: the loop keeps only the newest. */
export function digestsOf(history: readonly HistoryMessage[]): string[] {
  let before = ""
  return history.map((message) => (before = after(before, message)))
}

/** How far a list was digested, and what its newest messages came to. */
export interface Digested {
  count: number
  newest: string[]
}

/**
 * By the list that a fold holds, which only grows: what was digested for the request before is not looked at again, so that
 * a request costs the same in a long conversation as in a short one. A list that was cut is another one.
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
 * Goes on from what is on record when a fold was read from disk: the thousands of messages before are not digested again
 * only because a process is new. `history`: as it was before the reply.
 */
export function goOnFrom(recorded: string, history: readonly HistoryMessage[]): void {
  if (digested.get(history)?.count === history.length) return // it was asked by this very process
  const [messages, ...newest] = ofMessages(recorded.split("."))
  if (messages === String(history.length)) digested.set(history, { count: history.length, newest })
}

/** For a fold that is kept, which has no longer the replies by which to go on; undefined before the first request. */
export const digestedOf = (history: readonly HistoryMessage[]): Digested | undefined => digested.get(history)

export const goOnWith = (known: Digested, history: readonly HistoryMessage[]): void => void digested.set(history, known)

/** Of a message it is a checksum, which goes on from the one before it: each request has new ones, and SHA-256 costs three times as much. */
const after = (before: string, message: HistoryMessage): string =>
  crc32(JSON.stringify(message), before === "" ? 0 : Number.parseInt(before, 36)).toString(36)
const digest = (text: string): string => hash("sha256", text, "base64url").slice(0, LENGTH)

/** What is the same as for the request before it is not worked out again: instructions and options hardly ever change. */
function remembering(of: (text: string) => string): (text: string) => string {
  let last = { text: "", digest: of("") }
  return (text) => {
    if (last.text !== text) last = { text, digest: of(text) }
    return last.digest
  }
}

const ofSystem = remembering(digest)

let lastOptions = { toolChoice: "", settings: undefined as unknown, answerSchema: undefined as unknown, digest: "" }

/** By identity too: nearly all requests have none of their own. */
function ofOptions({ toolChoice, settings, answerSchema }: ModelRequest): string {
  const last = lastOptions
  if (last.toolChoice !== toolChoice || last.settings !== settings || last.answerSchema !== answerSchema) {
    const known = digest(JSON.stringify([toolChoice, settings, answerSchema]))
    lastOptions = { toolChoice, settings, answerSchema, digest: known }
  }
  return lastOptions.digest
}

let lastTools = { tools: [] as readonly ToolDeclaration[], digest: digest("[]") }

/** By identity: a tool makes its declaration once. */
function ofTools(tools: readonly ToolDeclaration[]): string {
  const { tools: last } = lastTools
  let at = tools.length === last.length ? 0 : -1
  while (at >= 0 && at < tools.length && tools[at] === last[at]) at++
  if (at !== tools.length) lastTools = { tools, digest: digest(JSON.stringify(tools)) }
  return lastTools.digest
}

/** A file's bytes are not read again for it: the message names them by what they are. */
function ofFiles(history: readonly HistoryMessage[]): string {
  const shown = history.flatMap((turn, at) =>
    turn.role !== "assistant" && turn.shown ? [[at, turn.shown.map(toWords)]] : [],
  )
  return digest(JSON.stringify(shown))
}

const toWords = (file: ShownFile): unknown =>
  file.type === "words" ? file.text : [file.text, file.name, file.mediaType, file.bytes.length]

/** Letters of base64url, six bits each. */
const QUESTION_LENGTH = 8

/**
 * What is on record of a request beside the replies (a decision of a stage, a summary, a title): its instructions and what was asked with
 * them, so that `pawl replay` can tell whether it would be asked the same. Whole, since it is a model call of its own and no part of a turn
 * without stages.
 */
export const digestAside = ({ system, history }: ModelRequest): Pick<RecordedModelCall, "promptHash" | "question"> => ({
  promptHash: createHash("sha256").update(system).digest("hex"),
  question: hash("sha256", JSON.stringify(history), "base64url").slice(0, QUESTION_LENGTH),
})
