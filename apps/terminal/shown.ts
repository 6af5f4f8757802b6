import { escapeHidden } from "../../core/shared/text/hidden-characters.ts"

const TAB = "    "

/**
 * What may be written to a terminal: one line of text in which nothing is an order to it. Escape sequences, controls,
 * turned writing direction and what has no width are written out as their numbers, such as `⟨U+001B⟩`.
 *
 * Everything that is shown passes through here: `Lines` calls it for each piece of text before Ink gets it. Whoever makes
 * lines calls it too, because what is written out is wider than what it was; doing it twice changes nothing.
 */
export function toShown(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return escapeHidden(text.replaceAll("\t", TAB)).replaceAll("\n", "⟨U+000A⟩")
}

/** Text of several lines, each of which can be shown. */
export function toShownLines(text: string): string[] {
  return text.split(/\r?\n/).map(toShown)
}
