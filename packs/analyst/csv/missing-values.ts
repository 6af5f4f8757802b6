/** Words for missing values. */
const WORDS = new Set([
  ...["null", "(null)", "<null>", "\\n", "none", "nil", "nan", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "-", "--"],
  ...["–", "—", "?", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"],
])
/**
 * The words that mean a missing value in text columns too. Others may be meant literally: None is a name, and a dash is
 * a dash.
 */
const SURE = new Set(["null", "(null)", "<null>", "\\n", "nan", "n/a", "#n/a"])
const LONGEST = 8

export const isNullWord = (cell: string) => cell.length <= LONGEST && WORDS.has(cell.toLowerCase())
export const isSureNullWord = (cell: string) => cell.length <= LONGEST && SURE.has(cell.toLowerCase())
