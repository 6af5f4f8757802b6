const HIDDEN = "[hidden]"

/** Shorter ones are words too: a password `postgres` would blacken half of what is said about a database. */
const SHORTEST = 12

/** A text in which none of these secrets stands any more, as it is, in JSON or in a URL. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  let clean = text
  for (const form of formsOf(secrets)) if (clean.includes(form)) clean = clean.replaceAll(form, HIDDEN)
  return clean
}

/**
 * The same for bytes that come in pieces: a secret whose halves come one after the other is found too. What may be the
 * beginning of one is held back until it is known.
 */
export class SecretFilter {
  readonly #forms: readonly string[]
  #held = ""

  constructor(secrets: Iterable<string>) {
    // As bytes: a piece may end in the middle of a letter.
    this.#forms = formsOf(secrets).map((form) => Buffer.from(form, "utf8").toString("latin1"))
  }

  /** What may be shown now. */
  add(chunk: Buffer): Buffer {
    if (this.#forms.length === 0) return chunk
    let text = this.#held + chunk.toString("latin1")
    for (const form of this.#forms) text = text.replaceAll(form, HIDDEN)
    const held = Math.max(...this.#forms.map((form) => begunAtEnd(text, form)))
    this.#held = text.slice(text.length - held)
    return Buffer.from(text.slice(0, text.length - held), "latin1")
  }

  /** What was held back, and was the beginning of nothing. */
  end(): Buffer {
    const rest = Buffer.from(this.#held, "latin1")
    this.#held = ""
    return rest
  }
}

/** How many letters at the end of a text are the beginning of another. */
function begunAtEnd(text: string, form: string): number {
  for (let count = Math.min(form.length - 1, text.length); count > 0; count--)
    if (text.endsWith(form.slice(0, count))) return count
  return 0
}

/** The longest first: one may be part of another. */
function formsOf(secrets: Iterable<string>): string[] {
  const long = [...secrets].filter((secret) => secret.length >= SHORTEST)
  const forms = long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}
