/** Strings, names in quotes, comments and words stay as they are; everything else is a sign of its own. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]\n]*\]|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}\p{N}_$.@:#]+|\s+|[^\s]/gu

/** Begins a line of its own. The longer ones first. */
const CLAUSES =
  /^(?:select|from|where|group by|having|window|order by|limit|offset|fetch|union all|union|intersect|except|with|returning|(?:natural |left |right |full |inner |cross )*(?:outer )?join|values|set|insert into|update|delete from)$/
const SUBCLAUSES = /^(?:and|or|on)$/
/** Characters on a line, and the length from which SQL is left as it was written. */
const WIDTH = 72
const MAX_LENGTH = 20_000

/**
 * SQL over several lines, for reading: a line for each clause, and one for each item of what is long. Only the space between
 * words is another; what its author has laid out already is left as it is.
 */
export function formatSql(sql: string): string {
  const text = sql.trim()
  if (text.includes("\n") || text.length <= WIDTH || text.length > MAX_LENGTH) return sql
  // A quote behind a backslash ends a string in some databases and not in others.
  if (/\\['"]/.test(text)) return sql
  const tokens = join(text.match(TOKEN)?.filter((token) => token.trim() !== "") ?? [])
  const made = layOut(tokens, text)
  // Whatever else would be different is a mistake of ours: then the words are shown as they came.
  return bare(made) === bare(text) ? made : sql
}

const bare = (text: string) => text.replaceAll(/\s+/g, "")

/** Words of one clause as one: `GROUP BY`, `LEFT OUTER JOIN`. */
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

/** How long what follows a comma is, up to the next one or the next clause. */
function itemLength(tokens: readonly string[], from: number): number {
  let depth = 0
  let length = 0
  // By number: a copy of what follows each comma would be copied again behind the next.
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at] as string
    if (depth === 0 && (token === "," || token === ")" || CLAUSES.test(token.toLowerCase()))) break
    depth += token === "(" ? 1 : token === ")" ? -1 : 0
    length += token.length + 1
    if (length > WIDTH) break
  }
  return length
}

/** Whether a space stood between two words is seen in the text itself: `count(*)`, `a.b` and `-1` are kept together. */
function layOut(tokens: readonly string[], text: string): string {
  const lines: string[] = [""]
  /** For each bracket that is open whether a query stands in it, and how many are no query's. */
  const depths: boolean[] = []
  let others = 0
  /** Whether the last line has no word yet: to look at it would read a long one again for each of its words. */
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
