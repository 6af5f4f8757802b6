import { escapeHidden } from "../../core/shared/text/hidden-characters.ts"

const TAB = "    "

/**
 * Makes text safe for a terminal: one line without control sequences. Escape sequences, control characters,
 * bidirectional overrides and zero-width characters are written as code points, such as `⟨U+001B⟩`.
 *
 * `Lines` calls it for everything that is shown. Code that measures lines calls it too, because the result is wider
 * than the input. It is idempotent.
 */
export function printable(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return escapeHidden(text.replaceAll("\t", TAB)).replaceAll("\n", "⟨U+000A⟩")
}

export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map(printable)
}
