import * as vega from "vega"

/** Vega has it, and its types do not tell. */
const { formats } = vega as unknown as { formats(name: string, reader: unknown): void }

/** Tables as text inside of a chart. Vega's own reader compiles code for each table, which the policy of the frame forbids. */
export function readSeparated(): void {
  const reader =
    (own?: string) =>
    (text: unknown, format?: { readonly delimiter?: string; readonly header?: readonly string[] }) => {
      const [first = [], ...rest] = toCells(String(text), own ?? format?.delimiter ?? ",")
      const [names, rows] = format?.header ? [format.header, [first, ...rest]] : [first, rest]
      return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])))
    }
  formats("csv", reader(","))
  formats("tsv", reader("\t"))
  formats("dsv", reader())
}

/** By RFC 4180: a cell in quotes may hold what would end it, and a quote twice. */
function toCells(text: string, delimiter: string): string[][] {
  const rows: string[][] = [[]]
  let [cell, isQuoted] = ["", false]
  const end = () => void (rows.at(-1)?.push(cell), (cell = ""))
  for (let at = 0; at < text.length; at++) {
    const [letter, next] = [text[at] as string, text[at + 1]]
    if (isQuoted && letter === '"' && next === '"') cell += text[++at]
    else if (letter === '"') isQuoted = !isQuoted
    else if (isQuoted) cell += letter
    else if (letter === delimiter) end()
    else if (letter === "\n") {
      end()
      rows.push([])
    } else if (letter !== "\r") cell += letter
  }
  end()
  return rows.filter((row) => row.length > 1 || row[0] !== "")
}
