/** What fits into a card without being cut. */
export const MAX_CHARACTERS = 400
export const MAX_LINES = 6

export const isLongText = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 1).length > MAX_LINES

/** Whether any text in a value would be cut where it is shown; lists and objects are shown as their JSON. */
export function isLong(value: unknown): boolean {
  if (typeof value === "string") return isLongText(value)
  if (typeof value !== "object" || value === null) return false
  return isLongText(JSON.stringify(value)) || Object.values(value).some(isLong)
}

/** Whether a value is better read below its name than beside it where there is little room. */
export const isWide = (text: string): boolean => text.length > 40 || text.includes("\n")
