const MAX = 60

/** Derives column names from the cells of a first row: valid in a statement, and unique. */
export function columnNames(cells: readonly string[], count: number): string[] {
  const taken = new Set<string>()
  return Array.from({ length: count }, (_, index) => {
    const wanted = toName(cells[index] ?? "") || `column_${index + 1}`
    let name = wanted
    // SQLite treats `Name` and `name` as the same.
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${wanted}_${number}`
    taken.add(name.toLowerCase())
    return name
  })
}

/** Derives the name of a table from the name of its file. */
export function tableName(name: string): string {
  const clean = toName(name.replace(/\.(csv|tsv|txt)$/i, "")).toLowerCase()
  // SQLite reserves these names.
  return clean === "" || clean.startsWith("sqlite_") ? `table_${clean}`.replace(/_$/, "") : clean
}

/** Letters, digits and `_`, in any script, without a leading digit. Empty if nothing remains. */
function toName(text: string): string {
  const clean = text
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, "_")
    .replaceAll(/^_+|(?<!_)_+$/g, "")
  const cut = [...clean].slice(0, MAX).join("")
  return /^[\p{N}\p{M}]/u.test(cut) ? `_${cut}` : cut
}
