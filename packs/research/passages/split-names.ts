/** Longer lists say nothing more: two hundred authors are kept of any. */
const MAX_CHARACTERS = 10_000

/**
 * The names in a list that a file gives as one text. Runs of spaces become one before anything is looked for: an expression
 * with `\s*` in front of a sign goes over a run again from each of its spaces, and a megabyte of them stops the server.
 */
export function splitNames(list: string, between: RegExp): string[] {
  return list
    .replaceAll(/\s+/g, " ")
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()
    .split(between)
    .map((name) => name.trim())
    .filter((name) => name !== "")
}
