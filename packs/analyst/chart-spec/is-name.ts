/** Last words of a column's name that tell that its numbers are names: ids, codes. They have no sum. */
const NAMES = new Set([
  ...["id", "ids", "zip", "zipcode", "postcode", "plz", "code", "phone", "fax", "isbn", "ean", "sku", "port", "pid"],
  ...["version", "key", "no", "nr", "number"],
])
/** And those that tell that they count time: they have an order, and no sum. */
const PERIODS = new Set(["year", "yr", "jahr", "quarter", "month", "week", "weekday", "day", "hour"])

interface Named {
  readonly name: string
}

/** Whether the numbers of a column are names, such as ids and years, which are not added up or grouped by thousands. */
export const isName = (column: Named): boolean => NAMES.has(lastWord(column)) || isPeriod(column)

/** Whether the numbers of a column are years, months, hours. `orders_per_day` is a number of orders. */
export function isPeriod({ name }: Named): boolean {
  const [last = "", before] = wordsOf(name)
  return PERIODS.has(last) && before !== "per"
}

/** Whether the numbers of a column say which record it is. */
export const isRecordId = (column: Named): boolean => /^ids?$/.test(lastWord(column))

const lastWord = ({ name }: Named): string => wordsOf(name)[0] ?? ""

/** The last word of a name first: `TrackId` and `track_id` are id, track. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_]/)
    .reverse()
