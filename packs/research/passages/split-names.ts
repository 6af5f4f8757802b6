/** The limit of a list. It is enough for the two hundred authors that are stored. */
const MAX_CHARACTERS = 10_000

/**
 * Splits a list of names in one text. First replaces runs of spaces by single ones: a pattern with `\s*` before a
 * separator would take quadratic time, so a megabyte of spaces would block the server.
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
