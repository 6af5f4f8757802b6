/** Strings, quoted names, comments and words are one token each; every other character is its own token. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]\n]*\]|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}\p{N}_$.@:#]+|\s+|[^\s]/gu

/** Clauses that start a new line, longer ones first. */
const CLAUSES =
  /^(?:select|from|where|group by|having|window|order by|limit|offset|fetch|union all|union|intersect|except|with|returning|(?:natural |left |right |full |inner |cross )*(?:outer )?join|values|set|insert into|update|delete from)$/
const SUBCLAUSES = /^(?:and|or|on)$/
/** The line width, and the length from which SQL is not formatted. */
const WIDTH = 72
const MAX_LENGTH = 20_000

/**
 * Formats SQL over several lines for display: one line for each clause, and for each item of a long list. It changes
 * only white space, and does not change SQL that already has several lines.
 */
export function formatSql(sql: string): string {
  const text = sql.trim()
  if (text.includes("\n") || text.length <= WIDTH || text.length > MAX_LENGTH) return sql
  // Whether a backslash escapes a quote depends on the database.
  if (/\\['"]/.test(text)) return sql
  const tokens = join(text.match(TOKEN)?.filter((token) => token.trim() !== "") ?? [])
  const made = layOut(tokens, text)
  // If formatting changed anything but white space, show the original.
  return bare(made) === bare(text) ? made : sql
}

const bare = (text: string) => text.replaceAll(/\s+/g, "")

/** Joins the words of a clause, such as `GROUP BY` or `LEFT OUTER JOIN`, to one token. */
function join(tokens: readonly string[]): string[] {
  const joined: string[] = []
  for (let at = 0; at < tokens.length;) {
    const length = [4, 3, 2, 1].find(
      (count) =>
        count === 1 ||
        CLAUSES.test(
          tokens
            .slice(at, at + count)
            .join(" ")
            .toLowerCase(),
        ),
    ) as number
    joined.push(tokens.slice(at, at + length).join(" "))
    at += length
  }
  return joined
}

/** The length of a list item, up to the next comma or clause. */
function itemLength(tokens: readonly string[], from: number): number {
  let depth = 0
  let length = 0
  // By index: copying the rest after each comma would take quadratic time.
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at] as string
    if (depth === 0 && (token === "," || token === ")" || CLAUSES.test(token.toLowerCase()))) break
    depth += token === "(" ? 1 : token === ")" ? -1 : 0
    length += token.length + 1
    if (length > WIDTH) break
  }
  return length
}

/**
 * Whether two tokens had a space between them is taken from the original text, so that `count(*)`, `a.b` and `-1` stay
 * together.
 */
function layOut(tokens: readonly string[], text: string): string {
  const lines: string[] = [""]
  /** For each open bracket, whether it contains a query, and the number of those that do not. */
  const depths: boolean[] = []
  let others = 0
  /** True if the last line is empty. Stored, because checking a long line again for each word would be slow. */
  let isNew = true
  let place = 0
  const newLine = (more = "") => {
    lines.push("  ".repeat(depths.length - others) + more)
    isNew = more.trim() === ""
  }
  const close = () => {
    if (depths.pop() === false) others--
  }
  for (const [index, token] of tokens.entries()) {
    const word = token.toLowerCase()
    const start = text.indexOf(token.split(" ")[0] as string, place)
    const hasSpace = start > place
    place = start
    for (const part of token.split(" ")) place = text.indexOf(part, place) + part.length
    const isPlain = others === 0
    const isQuery = token === "(" && /^(?:select|with|values)$/i.test(tokens[index + 1] ?? "")
    const line = lines.at(-1) as string
    if (isPlain && index > 0 && CLAUSES.test(word) && !isNew) newLine(token)
    else if (isPlain && SUBCLAUSES.test(word) && line.length > WIDTH / 2) newLine(`  ${token}`)
    else if (token === ")" && depths.at(-1)) {
      close()
      newLine(token)
      continue
    } else {
      lines[lines.length - 1] = line + (hasSpace && !isNew ? " " : "") + token
      isNew = false
    }
    if (token === "(") {
      depths.push(isQuery)
      if (isQuery) newLine()
      else others++
    } else if (token === ")") close()
    else if (token === "," && isPlain && (lines.at(-1) as string).length + itemLength(tokens, index + 1) > WIDTH)
      newLine("  ")
    else if (token.startsWith("--")) newLine()
  }
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n")
}
