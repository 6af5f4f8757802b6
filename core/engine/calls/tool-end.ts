import type { CallStatus } from "../../protocol/conversation/message.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import { mendText } from "../../shared/text/text.ts"
import type { Call, Conversation } from "../conversation.ts"

interface Ending {
  readonly status: CallStatus
  readonly text: string
  readonly now: number
}

/** The event that ends a call, with the text for the model. */
export function toolEnd(
  { user }: Pick<Conversation, "user">,
  call: Call,
  { status, text, now }: Ending,
): Extract<NewEvent, { type: "tool_end" }> {
  const ms = call.state === "started" ? Math.max(0, now - call.startedAt) : 0
  const id = newId("msg", user, now)
  return { type: "tool_end", callId: call.id, id, seq: call.seq, status, text: mendText(text), ms }
}

const HIDDEN = "[hidden]"

/**
 * Shorter secrets are ordinary words, too: removing a password `postgres` would redact half of a text about a database.
 */
const SHORTEST = 12

/** Returns the text without these secrets, as they are, in JSON or in a URL. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  let clean = text
  for (const form of formsOf(secrets)) if (clean.includes(form)) clean = clean.replaceAll(form, HIDDEN)
  return clean
}

/**
 * Parses JSON without these secrets. Each string in it is cleaned by itself: across punctuation or after an escape, the
 * letters of a secret may occur by chance, and removing them would break the JSON.
 */
export function parseWithoutSecrets(json: string, secrets: Iterable<string>): unknown {
  const forms = formsOf(secrets)
  if (!forms.some((form) => json.includes(form))) return JSON.parse(json)
  const clean = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, HIDDEN), text)
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value === "string") return clean(value)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [clean(name), each]))
  })
}

/**
 * The same for bytes that arrive in chunks: a secret across two chunks is found, too. What may be the start of one is
 * held back.
 */
export class SecretFilter {
  readonly #forms: readonly string[]
  #pending = ""

  constructor(secrets: Iterable<string>) {
    // As bytes, because a chunk may end in the middle of a character.
    this.#forms = formsOf(secrets).map((form) => Buffer.from(form, "utf8").toString("latin1"))
  }

  /** Returns the part that can be shown now. */
  add(chunk: Buffer): Buffer {
    if (this.#forms.length === 0) return chunk
    let text = this.#pending + chunk.toString("latin1")
    for (const form of this.#forms) text = text.replaceAll(form, HIDDEN)
    const pending = Math.max(...this.#forms.map((form) => begunAtEnd(text, form)))
    this.#pending = text.slice(text.length - pending)
    return Buffer.from(text.slice(0, text.length - pending), "latin1")
  }

  /** Returns the held-back rest, which is not the start of a secret. */
  end(): Buffer {
    const rest = Buffer.from(this.#pending, "latin1")
    this.#pending = ""
    return rest
  }
}

/** The length of the longest suffix of `text` that is a prefix of `form`. */
function begunAtEnd(text: string, form: string): number {
  for (let count = Math.min(form.length - 1, text.length); count > 0; count--)
    if (text.endsWith(form.slice(0, count))) return count
  return 0
}

/** The longest first, because one may contain another. */
function formsOf(secrets: Iterable<string>): string[] {
  const long = [...secrets].filter((secret) => secret.length >= SHORTEST)
  const forms = long.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}
