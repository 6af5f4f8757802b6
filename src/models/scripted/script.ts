import type { ReplyPart, BesidePart } from "../../agent/model.ts"
import { AppError, type ErrorCode, failure } from "../../protocol/errors.ts"
import type { ReplyFinish, Usage } from "../../protocol/conversation/message.ts"
import { chunkText } from "../offline/chunk-text.ts"

/** One reply of a scripted model: its parts, and what comes after the last of them. */
export interface Script {
  readonly parts: readonly (ReplyPart | BesidePart)[]
  readonly end: ScriptEnd
}

export type ScriptEnd =
  | { readonly type: "stop" }
  | { readonly type: "fail"; readonly error: Error }
  /** The stream just ends, without a finish. */
  | { readonly type: "break" }
  /** Nothing comes any more until somebody aborts. */
  | { readonly type: "hang" }

const STOP: ScriptEnd = { type: "stop" }

export interface Saying {
  /** In how many deltas the text comes; one. */
  readonly chunks?: number
}

/** Words. */
export function says(text: string, { chunks = 1 }: Saying = {}): Script {
  const pieces = chunks === 1 && text ? [text] : chunkText(text, chunks)
  return { parts: pieces.map((piece) => ({ type: "text", text: piece })), end: STOP }
}

/** Private reasoning before an answer: `replies(thinks("…"), says("…"))`. With `chunks` it is also heard while it comes. */
export function thinks(text: string, metadata?: unknown, { chunks = 0 }: Saying = {}): Script {
  const whole: ReplyPart = metadata === undefined ? { type: "reasoning", text } : { type: "reasoning", text, metadata }
  const pieces = chunks === 0 ? [] : ["", ...chunkText(text, chunks)]
  return { parts: [...pieces.map((piece) => ({ type: "thinking" as const, text: piece })), whole], end: STOP }
}

/** Arguments of a call; a text is taken as the model wrote it, valid JSON or not. */
export type CallInput = Readonly<Record<string, unknown>> | string

/** A call, or several at once: `calls("list_tasks")`, `calls(["get_note", { id: 1 }], ["get_note", { id: 2 }])`. */
export function calls(name: string, input?: CallInput): Script
export function calls(...several: readonly (readonly [name: string, input?: CallInput])[]): Script
export function calls(...given: readonly unknown[]): Script {
  const several = typeof given[0] === "string" ? [given] : given
  return { parts: (several as [string, CallInput?][]).map(toCall), end: STOP }
}

function toCall([name, input = {}]: readonly [string, CallInput?]): ReplyPart {
  return { type: "call", name, input: typeof input === "string" ? input : JSON.stringify(input) }
}

/** Several things in one reply, in this order. What the last one ends with ends the reply. */
export function replies(...scripts: readonly Script[]): Script {
  return { parts: scripts.flatMap((script) => script.parts), end: scripts.at(-1)?.end ?? STOP }
}

/** Ends as these words say: why, and what it used. Without it a reply with calls finishes with `calls`, others with `stop`. */
export function finishes(finish: ReplyFinish, usage: Usage = UNCOUNTED): Script {
  return { parts: [{ type: "finish", finish, usage }], end: STOP }
}

/** The provider is waited for before the reply begins: `replies(waits(20_000), says("…"))`. */
export function waits(ms: number, because: ErrorCode = "rate_limited"): Script {
  return { parts: [{ type: "waiting", provider: "scripted", because, ms, attempt: 2, attempts: 3 }], end: STOP }
}

export interface Failing {
  /** Shown before it fails. */
  readonly after?: string
  readonly retriable?: boolean
  readonly retryAfterMs?: number
  /** It was the request that was wrong. */
  readonly refusesRequest?: boolean
}

/** The provider fails with this code. */
export function fails(code: ErrorCode, { after = "", ...retriability }: Failing = {}): Script {
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

/** The stream stops in the middle of these words, without a finish and without an error. */
export function breaksOff(text: string, options?: Saying): Script {
  return { ...says(text, options), end: { type: "break" } }
}

/** Nothing comes until the request is aborted. */
export function hangs(after = ""): Script {
  return { ...says(after), end: { type: "hang" } }
}

export const UNCOUNTED: Usage = { inputTokens: null, outputTokens: null }
