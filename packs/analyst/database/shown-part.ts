import { SHOWN_CHARACTERS } from "./kind.ts"

/**
 * The part of a long text that is shown of it, with dots where there is more: the first, or that in which it begins to differ from what it
 * was or becomes. Whoever agrees to a change has to see it, however far behind it is.
 */
export function shownPart(text: string, other = text): string {
  const part = (whole: string, at: number) => whole.slice(at, at + SHOWN_CHARACTERS)
  let at = 0
  if (text !== other) while (part(text, at) === part(other, at)) at += SHOWN_CHARACTERS
  if (at >= text.length) at = 0 // all of it is where the other begins
  const more = text.length > at + SHOWN_CHARACTERS ? "…" : ""
  return `${at > 0 ? "…" : ""}${part(text, at).toWellFormed()}${more}`
}
