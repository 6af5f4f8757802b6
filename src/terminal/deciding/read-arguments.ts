/** Arguments as a person has changed them; a string says what is wrong with them. */
export function readArguments(text: string): Record<string, unknown> | string {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return "It has to be a JSON object: { … }"
  return given as Record<string, unknown>
}
