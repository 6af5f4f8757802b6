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
