import type { ReplyPart, StatusPart } from "../../engine/model.ts"
import { AppError, type ErrorCode, failure } from "../../protocol/errors.ts"
import type { ReplyFinish, Usage } from "../../protocol/conversation/message.ts"

/** One scripted reply: its parts, and how the stream ends. */
export interface Script {
  readonly parts: readonly (ReplyPart | StatusPart)[]
  readonly end: ScriptEnd
}

/** How the stream of a scripted reply ends: normally, with an error, without a finish, or not at all. */
export type ScriptEnd =
  | { readonly type: "stop" }
  | { readonly type: "fail"; readonly error: Error }
  /** The stream ends without a finish. */
  | { readonly type: "break" }
  /** The stream sends nothing until the request is aborted. */
  | { readonly type: "hang" }

const STOP: ScriptEnd = { type: "stop" }

/** Options for scripted text. */
export interface ScriptedTextOptions {
  /** The number of pieces that the text is split into. Pieces that arrive at once are one `text_delta`. Default: 1. */
  readonly chunks?: number
}

/**
 * Replies with text.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(says("Hello.", { chunks: 3 })) })
 * console.log((await pawl.ask("Hi.")).text) // Hello.
 */
export function says(text: string, { chunks = 1 }: ScriptedTextOptions = {}): Script {
  const pieces = chunks === 1 && text ? [text] : chunkText(text, chunks)
  return { parts: pieces.map((piece) => ({ type: "text", text: piece })), end: STOP }
}

/**
 * Replies with a value as JSON, for a question or an agent with `answers`.
 *
 * @example
 * const answers = z.object({ euros: z.number() })
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(givesValue({ euros: 90 })) })
 * const answer = await pawl.ask("How much?", { answers })
 * if (answer.status === "answered") console.log(answer.value.euros) // 90
 */
export const givesValue = (value: unknown, options?: ScriptedTextOptions): Script =>
  says(JSON.stringify(value), options)

/**
 * Adds thinking before an answer: `replies(thinks("…"), says("…"))`. With `chunks`, the thinking is also streamed in
 * that many pieces.
 *
 * @example
 * const models = scripted(replies(thinks("Is it prime?"), says("Yes.")))
 * await using pawl = await openPawl({ store: ":memory:", models })
 * console.log((await pawl.ask("Is 7 prime?")).text) // Yes.
 */
export function thinks(text: string, metadata?: unknown, { chunks = 0 }: ScriptedTextOptions = {}): Script {
  const whole: ReplyPart = metadata === undefined ? { type: "reasoning", text } : { type: "reasoning", text, metadata }
  const pieces = chunks === 0 ? [] : ["", ...chunkText(text, chunks)]
  return { parts: [...pieces.map((piece) => ({ type: "thinking" as const, text: piece })), whole], end: STOP }
}

/** The arguments of a call. A string is sent unchanged, valid JSON or not. */
export type CallInput = Readonly<Record<string, unknown>> | string

/**
 * Makes one or several calls: `calls("list_tasks")`, `calls(["get_note", { id: 1 }], ["get_note", { id: 2 }])`.
 *
 * @example
 * const count = defineTool({ name: "count", description: "Counts.", effect: "read", input: z.object({}), run: () => "7" })
 * const models = scripted(calls("count"), says("Seven."))
 * await using pawl = await openPawl({ store: ":memory:", agents: [{ name: "counter", tools: [count] }], models })
 * console.log((await pawl.ask("How many?")).text) // Seven.
 */
export function calls(name: string, input?: CallInput): Script
export function calls(...several: readonly (readonly [name: string, input?: CallInput])[]): Script
export function calls(...given: readonly unknown[]): Script {
  const several = typeof given[0] === "string" ? [given] : given
  return { parts: (several as [string, CallInput?][]).map(toCall), end: STOP }
}

function toCall([name, input = {}]: readonly [string, CallInput?]): ReplyPart {
  return { type: "call", name, input: typeof input === "string" ? input : JSON.stringify(input) }
}

/**
 * Combines several scripts into one reply, in this order. The end of the last one ends the reply.
 *
 * @example
 * const count = defineTool({ name: "count", description: "Counts.", effect: "read", input: z.object({}), run: () => "7" })
 * const models = scripted(replies(says("I count them."), calls("count")), says("Seven."))
 * await using pawl = await openPawl({ store: ":memory:", agents: [{ name: "counter", tools: [count] }], models })
 * console.log((await pawl.ask("How many?")).text) // Seven.
 */
export function replies(...scripts: readonly Script[]): Script {
  return { parts: scripts.flatMap((script) => script.parts), end: scripts.at(-1)?.end ?? STOP }
}

/**
 * Ends the reply with this reason and usage. Default: a reply with calls finishes with `calls`, others with `stop`.
 *
 * @example
 * const models = scripted(replies(says("Once upon"), finishes("limit")))
 * await using pawl = await openPawl({ store: ":memory:", models })
 * const answer = await pawl.ask("Tell a story.")
 * if (answer.status === "answered") console.log(answer.finish) // limit
 */
export function finishes(finish: ReplyFinish, usage: Usage = UNCOUNTED): Script {
  return { parts: [{ type: "finish", finish, usage }], end: STOP }
}

/**
 * Reports a wait before the reply starts: `replies(waits(20_000), says("…"))`. Nothing waits in fact.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(replies(waits(20_000), says("Hello."))) })
 * for await (const event of pawl.stream("Hi.")) if (event.type === "step") console.log(event.data.step) // waiting
 */
export function waits(ms: number, because: ErrorCode = "rate_limited"): Script {
  return { parts: [{ type: "waiting", provider: "scripted", because, ms, attempt: 2, attempts: 3 }], end: STOP }
}

/** Options of `fails`: the text before the failure, and whether a retry may succeed. */
export interface ScriptedFailureOptions {
  /** Text that is streamed before the failure. */
  readonly after?: string
  readonly retriable?: boolean
  readonly retryAfterMs?: number
  /** The failure is the fault of the request. */
  readonly refusesRequest?: boolean
}

/**
 * A reply that fails with this error code, after optional text.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(fails("provider_error")) })
 * const answer = await pawl.ask("Hi.")
 * if (answer.status === "failed") console.log(answer.error.code) // provider_error
 */
export function fails(code: ErrorCode, { after = "", ...retriability }: ScriptedFailureOptions = {}): Script {
  const details = {
    provider: "scripted",
    problem: "it fails as scripted",
    seconds: 60,
    retriable: false,
    ...retriability,
  }
  const { message } = failure(code as "provider_error", details)
  return { ...says(after), end: { type: "fail", error: new AppError(code, message, details) } }
}

/**
 * Ends the stream after this text, without a finish and without an error.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(breaksOff("Once upon")) })
 * console.log((await pawl.ask("Tell a story.")).status) // failed
 */
export function breaksOff(text: string, options?: ScriptedTextOptions): Script {
  return { ...says(text, options), end: { type: "break" } }
}

/**
 * Sends nothing more until the request is aborted.
 *
 * @example
 * const pawl = await openPawl({ store: ":memory:", models: scripted(hangs("Once")) })
 * for await (const event of pawl.stream("Tell a story.")) if (event.type === "text_delta") break
 * await pawl.close() // a kill has the same effect
 * console.log("The run continues in the next process.") // The run continues in the next process.
 */
export function hangs(after = ""): Script {
  return { ...says(after), end: { type: "hang" } }
}

export const UNCOUNTED: Usage = { inputTokens: null, outputTokens: null }

/** The text in `count` pieces of about one length, as a stream would bring it; never half of a surrogate pair. */
function chunkText(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)))
  const chunks: string[] = []
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(start + size, text.length)
    if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end++
    chunks.push(text.slice(start, end))
  }
  return chunks
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
