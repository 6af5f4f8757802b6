/** What programs and people write where there is nothing. */
const WORDS = new Set([
  ...["null", "(null)", "<null>", "\\n", "none", "nil", "nan", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "-", "--"],
  ...["–", "—", "?", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"],
])
/** In a column of text most of these may be meant: somebody is called None, and a dash is a dash. */
const SURE = new Set(["null", "(null)", "<null>", "\\n", "nan", "n/a", "#n/a"])
const LONGEST = 8

export const isNullWord = (cell: string) => cell.length <= LONGEST && WORDS.has(cell.toLowerCase())
export const isSureNullWord = (cell: string) => cell.length <= LONGEST && SURE.has(cell.toLowerCase())
