import { type Part, type ReplyFinish, THINKING_SEPARATOR, type Usage } from "../../protocol/conversation/message.ts"
import { failure } from "../../protocol/errors.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { newId, type UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { whenAborted } from "../../shared/concurrency/time-limit.ts"
import { GrowingText } from "../../shared/text/growing-text.ts"
import { jsonLimits, type JsonLimits, readJson } from "../../shared/text/read-json.ts"
import { isStorable, mendText, mendValue } from "../../shared/text/text.ts"
import type { Clock } from "../../shared/time/clock.ts"
import { LEFT_OUT, settingKeys, WAITING } from "../definition/stages.ts"
import { resendableParts } from "../history/history.ts"
import type { Model, ModelRequest, ReplyPart, StatusPart, ThinkingPart } from "../model.ts"
import { record, type Work } from "../record.ts"
import { citationData } from "./stage-events.ts"

/** A reply with more calls is a malfunction of the model; the rest is dropped. */
const MAX_CALLS = 256
/** The most characters of the arguments of all calls in one reply. */
const MAX_INPUTS_CHARACTERS = 4_000_000
const INPUT_LIMITS: JsonLimits = { ...jsonLimits.message, characters: 1_000_000 }
const MAX_NAME_CHARACTERS = 128

/**
 * Collects the parts of one reply as they arrive. The text that is shown and the text that is recorded are identical.
 */
export class Reply {
  readonly parts: Part[] = []
  readonly #model: string
  readonly #user: UserId
  readonly #clock: Pick<Clock, "now">
  #text = new GrowingText()
  #shown = 0
  /** Half of a surrogate pair at the end of a delta. Its other half is in the next one. */
  #half = ""
  #calls = 0
  #inputs = 0
  readonly thinking: LiveThinking
  /** The part of a completed thinking block that was not shown yet. */
  thoughtToShow = ""
  finish: ReplyFinish | undefined
  usage: Usage | undefined

  constructor(model: string, user: UserId, clock: Pick<Clock, "now">) {
    this.#model = model
    this.#user = user
    this.#clock = clock
    this.thinking = new LiveThinking(clock)
  }

  /** The length of the text that was shown. */
  get offset(): number {
    return this.#shown
  }

  /** True after the first text or thinking. From then on the provider is not asked again without telling the user. */
  get hasBegun(): boolean {
    return this.#shown > 0 || this.thinking.hasBegun
  }

  /** The text that was shown. */
  get shown(): string {
    return this.parts.map((part) => (part.type === "text" ? part.text : "")).join("") + String(this.#text)
  }

  get calls(): number {
    return this.#calls
  }

  /** Adds a part and returns the text to show now. */
  add(part: ReplyPart): string {
    switch (part.type) {
      case "text":
        return this.#addText(part.text)
      case "reasoning": {
        const shown = this.#closeText()
        const metadata = part.metadata === undefined ? {} : { metadata: mendValue(part.metadata) }
        const text = mendText(part.text)
        const { rest, ms } = this.thinking.end(text)
        this.thoughtToShow = rest
        const time = ms === undefined ? {} : { ms }
        this.parts.push({ type: "reasoning", text, model: this.#model, ...metadata, ...time })
        return shown
      }
      case "call": {
        const shown = this.#closeText()
        if (++this.#calls > MAX_CALLS) return shown
        const metadata = part.metadata === undefined ? {} : { metadata: mendValue(part.metadata) }
        this.parts.push({
          type: "call",
          // With the time in it, so that any node can tell whether the device belonged to another credential when it
          // was called.
          id: newId("call", this.#user, this.#clock.now()),
          name: toName(part.name),
          ...((this.#inputs += part.input.length) > MAX_INPUTS_CHARACTERS ? invalid(part.input) : toInput(part.input)),
          ...metadata,
        })
        return shown
      }
      case "finish":
        this.finish = part.finish
        this.usage = withCounts(part.usage)
        return this.#closeText()
    }
  }

  /** The text of an interrupted reply, without its calls. */
  shownParts(): Part[] {
    this.#half = "" // no client has seen it
    this.#closeText()
    return this.parts.filter((part) => part.type === "text")
  }

  #addText(text: string): string {
    let whole = this.#half + text
    this.#half = ""
    const last = whole.charCodeAt(whole.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    const mended = mendText(whole)
    this.#text.add(mended)
    this.#shown += mended.length
    return mended
  }

  #closeText(): string {
    const rest = mendText(this.#half)
    this.#half = ""
    this.#text.add(rest)
    this.#shown += rest.length
    if (this.#text.length > 0) {
      this.parts.push({ type: "text", text: String(this.#text) })
      this.#text = new GrowingText()
    }
    return rest
  }
}

/** Providers reject a call without a name in the history. */
const toName = (name: string): string => mendText(name.slice(0, MAX_NAME_CHARACTERS)) || "unnamed"

/**
 * Parses arguments as the model wrote them. Text that is not a JSON object is kept for the error that the model gets.
 */
function toInput(json: string): { input: JsonObject; invalidInput?: string } {
  if (json.trim() === "") return { input: {} }
  try {
    const value = readJson(json, INPUT_LIMITS)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return invalid(json)
    // Only an escape can write what cannot be stored, so most texts need no second check.
    const isPlain = isStorable(json) && !json.includes("\\u")
    return { input: (isPlain ? value : mendValue(value)) as JsonObject }
  } catch {
    return invalid(json)
  }
}

const invalid = (json: string) => ({ input: {}, invalidInput: mendText(json.slice(0, 2000)) })

/** More than any reply has; sums of very many of them still fit into a row. */
const MOST_TOKENS = 1e12
const COUNTS = ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens"] as const

/**
 * Replaces token counts that cannot be recorded. A provider may send anything; PostgreSQL would refuse the whole reply,
 * and the model would be asked again and again.
 */
function withCounts(usage: Usage): Usage {
  const counted = { ...usage }
  for (const name of COUNTS) if (usage[name] !== undefined) counted[name] = toCount(usage[name])
  return counted
}

const toCount = (count: number | null): number | null =>
  count !== null && count >= 0 && count <= MOST_TOKENS ? Math.round(count) : null

interface Block {
  readonly since: number
  /** The text that was shown of it. */
  text: string
  /** Half of a surrogate pair at the end of a delta. Its other half is in the next one. */
  half: string
}

/** The thinking of a reply in progress: what to show, and how long it took. Only whole blocks are recorded. */
export class LiveThinking {
  readonly #clock: Pick<Clock, "now">
  #block: Block | undefined
  #endedMs = 0
  #shown = 0
  #hasBegun = false

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock
  }

  /** True if it has thought at all, shown or not. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The length of the thinking that was shown. */
  get offset(): number {
    return this.#shown
  }

  get ms(): number {
    return this.#endedMs + (this.#block ? this.#clock.now() - this.#block.since : 0)
  }

  /** Adds a piece of a block, empty at its start, and returns what to show now. */
  more(text: string): string {
    this.#hasBegun = true
    const block = (this.#block ??= { since: this.#clock.now(), text: "", half: "" })
    let whole = block.half + text
    block.half = ""
    const last = whole.charCodeAt(whole.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      block.half = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    return this.#show(block, mendText(whole))
  }

  /** Ends a block: the rest to show, and the time it took if its pieces arrived one by one. */
  end(whole: string): { readonly rest: string; readonly ms?: number } {
    this.#hasBegun = true
    const block = this.#block
    this.#block = undefined
    const shown = block?.text ?? ""
    const rest = whole.startsWith(shown) ? whole.slice(shown.length) : ""
    const text = this.#show(block ?? { since: 0, text: "", half: "" }, rest)
    if (!block) return { rest: text }
    const ms = Math.max(0, this.#clock.now() - block.since)
    this.#endedMs += ms
    return { rest: text, ms }
  }

  #show(block: Block, text: string): string {
    if (text === "") return ""
    const shown = block.text === "" && this.#shown > 0 ? THINKING_SEPARATOR + text : text
    block.text += text
    this.#shown += shown.length
    return shown
  }
}

interface ReplyRequest {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
  /** The most characters of text, thinking and arguments together. A longer reply is cut, and counts as whole. */
  readonly most?: number
  /** Called if the provider must be waited for, and for settings that it does not support. */
  readonly tell?: (part: Exclude<StatusPart, ThinkingPart>) => Promise<void>
  /** Called with thinking as it arrives. The recorded blocks come with the parts. */
  readonly think?: (text: string) => void
}

/** About a quarter of a million tokens, twice what models write at most. A malfunctioning model would fill a disk. */
export const REPLY_CHARACTERS = 1_000_000

/**
 * Reads a reply part by part. Resolves when it is whole; rejects if it fails, ends unfinished, or must stop. Returns
 * `cut` if it is too long: then its last part is `limit`, and the provider is stopped.
 */
export async function streamReply(asked: ReplyRequest, hear: (part: ReplyPart) => void): Promise<"whole" | "cut"> {
  const { model, request, signal, most = REPLY_CHARACTERS } = asked
  signal.throwIfAborted()
  let listening = true
  let finished = false
  let cut = false
  const whole = async () => {
    let left = most
    for await (const part of model.stream(request, signal)) {
      if (!listening) return
      // Most parts are text, so this comes first.
      if (part.type === "text" && part.text.length <= left) {
        left -= part.text.length
        hear(part)
        continue
      }
      if (part.type === "thinking") {
        asked.think?.(part.text)
        continue
      }
      if (part.type === "waiting" || part.type === "left_out") {
        await asked.tell?.(part)
        continue
      }
      left -= sizeOf(part)
      cut = left < 0
      if (cut) cutTo(part, left).forEach(hear)
      else hear(part)
      if (part.type !== "finish" && !cut) continue
      finished = true
      return
    }
  }
  // A provider that ignores the signal must not delay a cancel. Its later parts are dropped.
  await new Promise<void>((resolve, reject) => {
    const listenNoMore = whenAborted(signal, () => end(signal.reason ?? new Error("stopped")))
    const end = (error?: unknown) => {
      listening = false
      listenNoMore()
      if (error === undefined) resolve()
      else reject(error)
    }
    whole().then(() => end(), end)
  })
  if (!finished)
    throw failure("provider_error", { provider: model.provider, problem: "the reply ended before it was finished" })
  return cut ? "cut" : "whole"
}

function sizeOf(part: ReplyPart): number {
  if (part.type === "finish") return 0
  return part.type === "call" ? part.name.length + part.input.length : part.text.length
}

/** Text is cut to what fits. Thinking and calls are dropped, because providers reject partial ones. */
function cutTo(part: ReplyPart, left: number): ReplyPart[] {
  const room = part.type === "text" ? part.text.slice(0, left) : ""
  const end: ReplyPart = { type: "finish", finish: "limit", usage: { inputTokens: null, outputTokens: null } }
  return room ? [{ type: "text", text: room }, end] : [end]
}

/**
 * The message for an interrupted reply, with the text that was shown; empty if none was. If the last of several
 * attempts failed before its first text, that of the attempt before it is recorded.
 */
export async function interruptedReply(
  { conversation, agent }: Pick<Work, "conversation" | "agent">,
  finish: "cancelled" | "broken",
  shown: Part[] = [],
): Promise<NewEvent[]> {
  const earlier = finish === "broken" ? conversation.run?.shown : undefined
  const parts =
    resendableParts(shown).length > 0 || earlier === undefined ? shown : [{ type: "text" as const, text: earlier }]
  if (resendableParts(parts).length === 0) return []
  const cited = agent.stages ? await citationData(agent.stages, conversation, parts) : {}
  const message = {
    type: "message",
    id: newId("msg", conversation.user),
    seq: conversation.seq + 1,
    role: "assistant",
    parts,
  } as const
  return [{ ...message, finish, ...cited }]
}

/**
 * Records the status parts of a reply: waiting for a provider, so that clients see why nothing arrives, and once per
 * conversation each setting that the model does not support. Both are still visible after a reload.
 */
export function recordStatus(work: Work, model: string): (part: Exclude<StatusPart, ThinkingPart>) => Promise<void> {
  return async (part) => {
    if (part.type === "left_out") {
      const { leftOut } = work.conversation
      const news = part.settings.filter((each) =>
        settingKeys({ model, settings: [each] }).some((key) => !leftOut.has(key)),
      )
      if (news.length > 0) await record(work, [{ type: "step", step: LEFT_OUT, detail: { model, settings: news } }])
      return
    }
    const { provider, because, ms, attempt, attempts } = part
    const until = new Date(work.ports.clock.now() + ms).toISOString()
    const detail = { provider, because, seconds: Math.ceil(ms / 1000), until, attempt, attempts }
    await record(work, [{ type: "step", step: WAITING, detail }])
  }
}
