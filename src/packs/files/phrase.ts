import type { Phrase } from "../../agent/definition/phrases.ts"

type Said = (group: string) => string

/**
 * A plain request about files. Of two free texts in a pattern the first ends at the first of the words between them, so
 * that no text, however hostile, is looked at more than once for each of its places.
 */
export function filePhrase(
  source: string,
  example: string,
  toArguments: (said: Said) => Record<string, unknown>,
): Phrase {
  return {
    pattern: new RegExp(`(?:please |can you |could you )?${source}`, "s"),
    arguments: (groups) => {
      const all = toArguments((group) => unquote(groups[group] ?? ""))
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ""))
    },
    example,
  }
}

const unquote = (text: string) => text.trim().replace(/^["'“`](.*)["'”`]$/s, "$1")
