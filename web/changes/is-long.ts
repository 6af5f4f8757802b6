/** What fits into a card without being cut. */
const MAX_CHARACTERS = 400
const MAX_LINES = 6

export const isLongText = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 1).length > MAX_LINES

/** Whether a value is better read below its name than beside it where there is little room. */
export const isWide = (text: string): boolean => text.length > 40 || text.includes("\n")
