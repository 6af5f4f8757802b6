/**
 * Messages in the syntax of ICU MessageFormat, as far as this page uses it: `{name}`, `{n, number}`,
 * `{n, plural, =0 {…} one {# row} other {# rows}}`, `{kind, select, a {…} other {…}}`, tags (`<link>…</link>`), and
 * `'{'` for a literal brace. A parser of this subset is under 1 kB, so messages are parsed in the browser on first use
 * and catalogues stay plain JSON that any translation tool can read.
 */

export type Part =
  | string
  | { readonly type: "value"; readonly name: string }
  | { readonly type: "plural" | "select"; readonly name: string; readonly cases: ReadonlyMap<string, readonly Part[]> }
  | { readonly type: "tag"; readonly name: string; readonly parts: readonly Part[] }

/** Parses a message. Throws an Error that names the position if the message is malformed. */
export function parseMessage(message: string): readonly Part[] {
  let at = 0
  const fail = (expected: string): never => {
    throw new Error(`Expected ${expected} at position ${at} of ${JSON.stringify(message)}.`)
  }
  const expectNext = (text: string) => (message.startsWith(text, at) ? (at += text.length) : fail(JSON.stringify(text)))
  const skipSpace = () => {
    while (/\s/.test(message[at] ?? "")) at++
  }
  const readWord = (): string => {
    skipSpace()
    const start = at
    while (/[\w=]/.test(message[at] ?? "")) at++
    if (at === start) fail("a name")
    const word = message.slice(start, at)
    skipSpace()
    return word
  }

  /** Reads up to the end of the message, the `}` of a case or the closing tag. `counted`: what `#` stands for. */
  function readParts(counted: string | undefined): Part[] {
    const parts: Part[] = []
    let text = ""
    const push = (part: Part) => {
      if (text !== "") parts.push(text)
      text = ""
      parts.push(part)
    }
    while (at < message.length) {
      const char = message[at] as string
      if (char === "}" || message.startsWith("</", at)) break
      if (char === "{") push(readArgument(counted))
      else if (char === "<" && /[a-zA-Z]/.test(message[at + 1] ?? "")) push(readTag(counted))
      else if (char === "#" && counted !== undefined) {
        at++
        push({ type: "value", name: counted })
      } else if (char === "'") text += readQuoted()
      else {
        text += char
        at++
      }
    }
    if (text !== "") parts.push(text)
    return parts
  }

  /** An apostrophe quotes only in front of a character of the syntax; anywhere else it stands for itself. */
  function readQuoted(): string {
    at++
    if (message[at] === "'") return (at++, "'")
    if (!"{}<#".includes(message[at] ?? " ")) return "'"
    const end = message.indexOf("'", at)
    if (end < 0) return fail("a closing apostrophe")
    const quoted = message.slice(at, end)
    at = end + 1
    return quoted
  }

  function readArgument(counted: string | undefined): Part {
    expectNext("{")
    const name = readWord()
    if (message[at] === "}") {
      at++
      return { type: "value", name }
    }
    expectNext(",")
    const type = readWord()
    if (type === "number") {
      expectNext("}")
      return { type: "value", name }
    }
    if (type !== "plural" && type !== "select") return fail("number, plural or select")
    expectNext(",")
    const cases = new Map<string, readonly Part[]>()
    skipSpace()
    while (message[at] !== "}") {
      const label = readWord()
      expectNext("{")
      cases.set(label, readParts(type === "plural" ? name : counted))
      expectNext("}")
      skipSpace()
    }
    at++
    if (!cases.has("other")) fail(`a case “other” for ${name}`)
    return { type, name, cases }
  }

  function readTag(counted: string | undefined): Part {
    expectNext("<")
    const name = readWord()
    expectNext(">")
    const parts = readParts(counted)
    expectNext(`</${name}>`)
    return { type: "tag", name, parts }
  }

  const parts = readParts(undefined)
  if (at < message.length) fail("the end of the message")
  return parts
}

/** The values of a message: text, numbers, React elements; for a tag a function of its content. */
export type Values = Readonly<Record<string, unknown>>

/** The parts of a message, in order. Numbers are formatted for the locale. */
export function fillMessage(parts: readonly Part[], values: Values, locale: string): unknown[] {
  return parts.flatMap((part): unknown[] => {
    if (typeof part === "string") return [part]
    const value = values[part.name]
    switch (part.type) {
      case "value":
        if (value === undefined) return [`{${part.name}}`]
        return [typeof value === "number" ? numberFormat(locale).format(value) : value]
      case "plural":
      case "select": {
        const exact = part.cases.get(part.type === "plural" ? `=${String(value)}` : String(value))
        const label = part.type === "plural" ? pluralRules(locale).select(Number(value)) : "other"
        const chosen = exact ?? part.cases.get(label) ?? part.cases.get("other") ?? []
        return fillMessage(chosen, values, locale)
      }
      case "tag": {
        const inner = fillMessage(part.parts, values, locale)
        return typeof value === "function" ? [(value as (inner: unknown[]) => unknown)(inner)] : inner
      }
    }
  })
}

/** Creating one takes longer than using it. */
function perLocale<Made>(make: (locale: string) => Made): (locale: string) => Made {
  const made = new Map<string, Made>()
  return (locale) => {
    const known = made.get(locale) ?? make(locale)
    made.set(locale, known)
    return known
  }
}

export const numberFormat = perLocale((locale) => new Intl.NumberFormat(locale))
const pluralRules = perLocale((locale) => new Intl.PluralRules(locale))
