/** The line of a result before the warnings about its columns. */
const ODD = "Tell the person what is odd in these columns:"

/**
 * Reports a query result without repeating its rows, which the person sees next to it: a single value, or the highest
 * and lowest number by name.
 */
export function retellResult(text: string): string {
  const [names = [], , ...rows] = text.split("\n").filter(isRow).map(toCells)
  const counted = text.split("\n").find((line) => /^(?:No rows\.|\d+ row|The first \d+ of)/.test(line)) ?? ""
  const [only] = rows
  const at = text.indexOf(ODD)
  const odd = at === -1 ? [] : text.slice(at).split("\n\n", 1)[0]?.split("\n").slice(1)
  const warned = (said: string) => [said, ...(odd ?? []).map((line) => line.slice(2))].join("\n")
  if (rows.length === 1 && only && counted.startsWith("1 row"))
    return warned(names.map((name, at) => `${name}: ${only[at] ?? ""}`).join(", ") + ".")
  const isPart = counted.startsWith("The first")
  // The person sees the whole result; the model did not.
  const said = counted.replace(/^The first \d+ of (\d+) row\(s\);.*?\w\./, "$1 rows.").replace(/ row\(s\)/, " rows")
  return warned(isPart ? said : [said, ...extremes(names, rows)].join(" "))
}

const isRow = (line: string) => line.startsWith("| ") && line.endsWith(" |")
const toCells = (line: string) => line.slice(2, -2).split(/(?<!\\) \| /)

function extremes(names: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const [first, last] = [names[0], names.at(-1)]
  const told = rows.map((cells) => {
    const [name = "", digits = ""] = [cells[0], cells.at(-1)]
    return { name, digits, value: Number(digits || Number.NaN) }
  })
  if (names.length !== 2 || rows.length < 3 || told.some(({ value }) => Number.isNaN(value))) return []
  if (/id$/i.test(last ?? "") || /id$/i.test(first ?? "")) return []
  const sorted = told.toSorted((a, b) => b.value - a.value)
  const [most, least] = [sorted[0], sorted.at(-1)]
  if (!most || !least || most.value === least.value) return []
  return [`The highest ${last} is ${most.digits} (${most.name}), the lowest ${least.digits} (${least.name}).`]
}
