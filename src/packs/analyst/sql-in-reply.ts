/** A statement may follow words, or stand alone with its comments. */
const BEGINS =
  /^[ \t]*(?:--[^\n]*\n\s*|\/\*[\s\S]{0,2000}?\*\/\s*)*\(?\s*(?:with|select|values|insert|update|delete|create|drop|alter|explain|pragma)\b/im
/** At the start of a line in plain prose these are words; as SQL they go on with more than a full stop. */
const FENCE = /```[ \t]*(?<language>[\w+-]*)[^\n]*\n(?<code>[\s\S]*?)(?:```|$)/g
const OTHER_LANGUAGES =
  /^(?:json|python|py|js|javascript|ts|typescript|text|txt|bash|sh|markdown|md|html|xml|yaml|csv)$/i

/**
 * The SQL in what a model wrote: inside its fence, or from the line on that begins a statement. Undefined where there is
 * none. It is not judged here: what may not run is refused by the guard, which tells why.
 */
export function sqlInReply(text: string): string | undefined {
  for (const { groups = {} } of text.matchAll(FENCE)) {
    const { language = "", code = "" } = groups
    if (!OTHER_LANGUAGES.test(language) && BEGINS.test(code)) return tidy(code)
  }
  const start = BEGINS.exec(text)
  if (!start) return undefined
  return tidy(text.slice(start.index).replace(/;[ \t]*\n\s*\n[\s\S]*$/, ";"))
}

const tidy = (sql: string) => sql.trim().replace(/(?:\s*;)+$/, "")
