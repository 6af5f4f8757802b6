import { newId, type UserId } from "../../protocol/ids.ts"
import type { ReplyFinish, Part, Usage } from "../../protocol/conversation/message.ts"
import { isStorable, mendText, mendValue } from "../../protocol/text/text.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Clock } from "../clock.ts"
import { GrowingText } from "../growing-text.ts"
import type { ReplyPart } from "../model.ts"
import { LiveThinking } from "./live-thinking.ts"

/** More calls than this in one reply are a model gone wrong; the rest is dropped. */
const MAX_CALLS = 256
const MAX_INPUT_CHARACTERS = 1_000_000
const MAX_INPUT_DEPTH = 64
const MAX_NAME_CHARACTERS = 128

/** Gathers the parts of one reply as they come. The text it shows and the text it keeps are the same, to the letter. */
export class Reply {
  readonly parts: Part[] = []
  readonly #model: string
  readonly #user: UserId
  readonly #clock: Pick<Clock, "now">
  #text = new GrowingText()
  #shown = 0
  /** Half of a surrogate pair at the end of a delta: its other half is in the next one. */
  #half = ""
  #calls = 0
  readonly thinking: LiveThinking
  /** Of a block of thinking that has just become whole: what nobody was shown yet. */
  thoughtToShow = ""
  finish: ReplyFinish | undefined
  usage: Usage | undefined

  constructor(model: string, user: UserId, clock: Pick<Clock, "now">) {
    this.#model = model
    this.#user = user
    this.#clock = clock
    this.thinking = new LiveThinking(clock)
  }

  /** How much text has been shown. */
  get offset(): number {
    return this.#shown
  }

  /** Whether its model has said or thought something: its provider is no longer asked again unseen. */
  get hasBegun(): boolean {
    return this.#shown > 0 || this.thinking.hasBegun
  }

  /** The words that were shown so far. */
  get shown(): string {
    return this.parts.map((part) => (part.type === "text" ? part.text : "")).join("") + String(this.#text)
  }

  get calls(): number {
    return this.#calls
  }

  /** Takes a part in and returns the text to show now. */
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
          // Whether a device was another's when it was called is read off this time, at any node.
          id: newId("call", this.#user, this.#clock.now()),
          name: toName(part.name),
          ...toInput(part.input),
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

  /** The words of a reply that was broken off, without the calls it may have begun. */
  shownParts(): Part[] {
    this.#half = "" // nobody has seen it
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

/** No provider takes back a call without a name. */
const toName = (name: string): string => mendText(name.slice(0, MAX_NAME_CHARACTERS)) || "unnamed"

/** Arguments as the model wrote them; what is not a JSON object is kept aside for the error the model will be told. */
function toInput(json: string): { input: JsonObject; invalidInput?: string } {
  if (json.trim() === "") return { input: {} }
  if (json.length > MAX_INPUT_CHARACTERS) return invalid(json)
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return invalid(json)
    // Each level takes two letters, and only an escape writes what cannot be stored: most need no second look.
    if (json.length > 2 * MAX_INPUT_DEPTH && depth(value) > MAX_INPUT_DEPTH) return invalid(json)
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
 * What was used in counts that can be recorded: a provider may send anything in their place. What is no count is one that
 * it does not say: kept as it came, PostgreSQL would refuse the whole reply, and its model be asked again and again.
 */
function withCounts(usage: Usage): Usage {
  const counted = { ...usage }
  for (const name of COUNTS) if (usage[name] !== undefined) counted[name] = toCount(usage[name])
  return counted
}

const toCount = (count: number | null): number | null =>
  count !== null && count >= 0 && count <= MOST_TOKENS ? Math.round(count) : null

/** How deeply a value is nested, as far as it matters: deep enough to break a recursive reader is deep enough. */
function depth(value: unknown, level = 0): number {
  if (value === null || typeof value !== "object" || level > MAX_INPUT_DEPTH) return level
  let deepest = level
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depth(inner, level + 1))
  return deepest
}
