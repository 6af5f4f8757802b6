/** A pattern as far as its cost is told by it. Sets are kept as they were written: the engine itself says what is in them. */
export type Pattern =
  | { readonly type: "set"; readonly source: string }
  | { readonly type: "all"; readonly of: readonly Pattern[] }
  | { readonly type: "either"; readonly of: readonly Pattern[] }
  | { readonly type: "repeat"; readonly of: Pattern; readonly min: number; readonly max: number }
  | { readonly type: "edge"; readonly sign: "^" | "$" | "\\b" | "\\B" }
  | { readonly type: "look"; readonly of: Pattern; readonly behind: boolean; readonly negative: boolean }
  | { readonly type: "again" }

/** Reads a regular expression that the engine has accepted already. */
export function parsePattern(source: string, flags: string): Pattern {
  const isUnicode = /[uv]/.test(flags)
  let at = 0
  const pattern = either()
  if (at < source.length) throw new Error(`Not read: ${source.slice(at)}`)
  return pattern

  function either(): Pattern {
    const options = [all()]
    while (source[at] === "|") {
      at += 1
      options.push(all())
    }
    return options.length === 1 ? options[0]! : { type: "either", of: options }
  }

  function all(): Pattern {
    const items: Pattern[] = []
    while (at < source.length && source[at] !== "|" && source[at] !== ")") items.push(repeated(atom()))
    return items.length === 1 ? items[0]! : { type: "all", of: items }
  }

  function repeated(of: Pattern): Pattern {
    const [quantifier, least, comma, most] = match(/(?:[*+?]|\{(\d+)(,)?(\d*)\})\??/y) ?? []
    if (quantifier === undefined) return of
    if (quantifier[0] === "*") return { type: "repeat", of, min: 0, max: Infinity }
    if (quantifier[0] === "+") return { type: "repeat", of, min: 1, max: Infinity }
    if (quantifier[0] === "?") return { type: "repeat", of, min: 0, max: 1 }
    return {
      type: "repeat",
      of,
      min: Number(least),
      max: !comma ? Number(least) : most === "" ? Infinity : Number(most),
    }
  }

  function atom(): Pattern {
    const [opening] = match(/\((?:\?(?:<?[=!]|:|<[\w$]+>))?/y) ?? []
    if (opening !== undefined) {
      const of = either()
      at += 1
      if (!/[=!]$/.test(opening)) return of
      return { type: "look", of, behind: opening.includes("<"), negative: opening.endsWith("!") }
    }
    const [edge] = match(/[$^]|\\[bB]/y) ?? []
    if (edge !== undefined) return { type: "edge", sign: edge as "^" | "$" | "\\b" | "\\B" }
    if (match(/\\(?:k<[^>]+>|[1-9])/y)) return { type: "again" }
    return { type: "set", source: set() }
  }

  function set(): string {
    const escaped = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^])/y
    const found = match(escaped) ?? match(/\[(?:\\[^]|[^\\\]])*\]/y) ?? match(isUnicode ? /[^]/uy : /[^]/y)
    if (!found) throw new Error(`Not read: ${source.slice(at)}`)
    return found[0]
  }

  function match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found ?? undefined
  }
}
