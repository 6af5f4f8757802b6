/** Last words of column names whose numbers are names: ids, codes. Their sum has no meaning. */
const NAMES = new Set([
  ...["id", "ids", "zip", "zipcode", "postcode", "plz", "code", "phone", "fax", "isbn", "ean", "sku", "port", "pid"],
  ...["version", "key", "no", "nr", "number"],
])
/** Last words of column names whose numbers are periods. They have an order but no sum. */
const PERIODS = new Set(["year", "yr", "jahr", "quarter", "month", "week", "weekday", "day", "hour"])

interface Named {
  readonly name: string
}

/** True if the numbers of a column are names, such as ids and years, which are not added up or grouped by thousands. */
export const isName = (column: Named): boolean => NAMES.has(lastWord(column)) || isPeriod(column)

/** True if the numbers of a column are years, months, hours. `orders_per_day` is a number of orders. */
export function isPeriod({ name }: Named): boolean {
  const [last = "", before] = wordsOf(name)
  return PERIODS.has(last) && before !== "per"
}

/** True if the numbers of a column identify records. */
export const isRecordId = (column: Named): boolean => /^ids?$/.test(lastWord(column))

const lastWord = ({ name }: Named): string => wordsOf(name)[0] ?? ""

/** The words of a name, the last one first: `TrackId` and `track_id` are id, track. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_]/)
    .reverse()
