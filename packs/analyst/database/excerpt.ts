import { SHOWN_CHARACTERS } from "./kind.ts"

/**
 * Shortens a long text for display: to its start, or to the position of the first difference from its other version. A
 * user who approves a change must see the difference, wherever it is.
 */
export function excerpt(text: string, other = text): string {
  const part = (whole: string, at: number) => whole.slice(at, at + SHOWN_CHARACTERS)
  let at = 0
  if (text !== other) while (part(text, at) === part(other, at)) at += SHOWN_CHARACTERS
  if (at >= text.length) at = 0 // the whole text is the start of the other one
  const more = text.length > at + SHOWN_CHARACTERS ? "…" : ""
  return `${at > 0 ? "…" : ""}${part(text, at).toWellFormed()}${more}`
}
