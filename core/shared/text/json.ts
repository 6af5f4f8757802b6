/**
 * Returns a record's own value for a name that a client or a model sent. A plain `record[name]` also finds inherited
 * properties such as `constructor`.
 */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** JSON with sorted keys: equal for equal values. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null"
  const record = value as Record<string, unknown>
  let fields = ""
  for (const key of Object.keys(record).sort()) {
    if (record[key] === undefined) continue
    fields += `${fields && ","}${JSON.stringify(key)}:${canonicalJson(record[key])}`
  }
  return `{${fields}}`
}

/** The length counted for a value that is not text, such as a number. */
const SCALAR_LENGTH = 8

const measured = new WeakMap<readonly object[], number>()

/** The approximate length of rows as JSON, without writing them out. Cached, because every subscriber of an event asks. */
export function rowsLength(rows: readonly object[]): number {
  const known = measured.get(rows)
  if (known !== undefined) return known
  const length = valueLength(rows)
  measured.set(rows, length)
  return length
}

/** Not recursive, because results of tools may be nested to any depth. */
function valueLength(whole: unknown): number {
  let length = 0
  const left = [whole]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === "string") length += value.length
    else if (typeof value !== "object" || value === null) length += SCALAR_LENGTH
    else if (Array.isArray(value)) for (const inner of value) left.push(inner)
    else
      for (const [name, inner] of Object.entries(value)) {
        length += name.length
        left.push(inner)
      }
  }
  return length
}
