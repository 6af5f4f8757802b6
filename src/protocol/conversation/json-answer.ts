/** Longer answers are for people, and would take long to check. */
const MAX_CHARACTERS = 200_000

/** The JSON of an answer, with what models put around it left out: a fence, or words before and after. */
export function readJsonAnswer(text: string): { readonly value: unknown } | { readonly problem: string } {
  const trimmed = text.trim()
  if (trimmed === "") return { problem: "There is no answer." }
  if (trimmed.length > MAX_CHARACTERS) return { problem: `It is longer than ${MAX_CHARACTERS} characters.` }
  const from = trimmed.search(/[[{]/)
  const to = Math.max(trimmed.lastIndexOf("}"), trimmed.lastIndexOf("]"))
  const inner = from >= 0 && to > from ? trimmed.slice(from, to + 1) : undefined
  let problem = ""
  for (const candidate of inner === undefined || inner === trimmed ? [trimmed] : [trimmed, inner]) {
    try {
      return { value: JSON.parse(candidate) as unknown }
    } catch (error) {
      problem = (error as Error).message.slice(0, 200)
    }
  }
  return { problem: `It is not JSON: ${problem}.` }
}
