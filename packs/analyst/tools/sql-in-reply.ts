import { MAX_SQL } from "../../../core/pack.ts"

/** The starts of lines that start a statement, not a sentence such as "With this query …". */
const BEGINS = [
  /^\(? *select\b/i,
  /^with (?:recursive )?[\w"`[\].]+ *(?:\([^()]{0,500}\) *)?as\b/i,
  /^values *\(/i,
  // Statements that the guard refuses with a message.
  /^(?:insert(?: or \w+)? into|delete from|replace into|truncate|merge into|vacuum|pragma|attach|copy|explain) /i,
  /^update [\w"`[\].]+ set\b/i,
  /^(?:create|drop|alter) (?:or replace |temp |temporary |unique )?(?:table|view|index|trigger|schema|function|role|user)\b/i,
]
const OTHER_LANGUAGES = /^(?:json|python|py|js|javascript|ts|typescript|bash|sh|html|xml|yaml|csv)$/i
/** The characters of a reply that are searched. */
const MAX = MAX_SQL * 2
/** The characters of a line that are searched for the start of a statement. */
const LOOK = 1000

/**
 * The SQL in a model's text: in a code fence, or from the line that starts a statement. Undefined if there is none. It
 * is not checked here: the guard refuses what may not run, with a reason.
 */
export function sqlInReply(reply: string): string | undefined {
  const text = reply.slice(0, MAX)
  for (const { language, code } of fencesOf(text)) {
    if (!OTHER_LANGUAGES.test(language) && beginningIn(code) !== undefined) return tidy(code)
  }
  const start = beginningIn(text)
  if (start === undefined) return undefined
  const end = /;[ \t]*\n[ \t]*\n/g
  end.lastIndex = start
  const { index } = end.exec(text) ?? { index: text.length }
  return tidy(text.slice(withComments(text, start), index))
}

/** Includes comments on the lines before a statement, because the user reads them with it. */
function withComments(text: string, start: number): number {
  let from = start
  while (from > 0) {
    const line = text.lastIndexOf("\n", from - 2) + 1
    if (
      !text
        .slice(line, line + LOOK)
        .trimStart()
        .startsWith("--")
    )
      break
    from = line
  }
  return from
}

/** The code blocks between lines of three backticks, with their language; the last may be unclosed. */
function fencesOf(text: string): { language: string; code: string }[] {
  const fences: { language: string; code: string }[] = []
  let open: { language: string; code: string[] } | undefined
  const close = () => {
    if (open) fences.push({ language: open.language, code: open.code.join("\n") })
    open = undefined
  }
  for (const line of text.split("\n")) {
    const mark = line.indexOf("```")
    if (open === undefined) {
      if (mark >= 0) open = { language: line.slice(mark + 3, mark + LOOK).trim(), code: [] }
    } else if (mark >= 0) {
      open.code.push(line.slice(0, mark))
      close()
    } else open.code.push(line)
  }
  close()
  return fences
}

/** Returns the position of the first line that starts a statement. Comments may precede it. */
function beginningIn(text: string): number | undefined {
  let at = 0
  let commented = false
  for (const line of text.split("\n")) {
    const words = line
      .slice(0, LOOK)
      .trim()
      .replaceAll(/[ \t]+/g, " ")
    const opened = words.lastIndexOf("/*")
    const closed = words.lastIndexOf("*/")
    const rest = closed > opened ? words.slice(closed + 2).trim() : words
    // A comment may also follow on the same line. Then the rest of the line does not matter.
    const begins = (text: string) => BEGINS.some((pattern) => pattern.test(text))
    if ((!commented && begins(words)) || ((!commented || closed >= 0) && begins(rest))) return at
    if (closed > opened) commented = false
    else if (opened >= 0) commented = true
    at += line.length + 1
  }
  return undefined
}

function tidy(sql: string): string {
  let end = sql.length
  while (end > 0 && "; \t\r\n".includes(sql.charAt(end - 1))) end--
  return sql.slice(0, end).trimStart()
}
