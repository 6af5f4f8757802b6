import { titleOf } from "../../protocol/conversation/title.ts"
import { escapeHidden } from "../../protocol/text/hidden-characters.ts"
import { mendText } from "../../protocol/text/text.ts"

const MAX_READ = 1000

/**
 * A title out of what a model wrote: its first line that says something, without the marks that models put around one, as
 * long as any title, with nothing in it that would not be seen. Undefined where there is none.
 */
export function titleFromReply(text: string): string | undefined {
  const lines = text.slice(0, MAX_READ).split(/[\n\r\u2028\u2029]/)
  const line = lines.map(bare).find((each) => /[\p{L}\p{N}]/u.test(each))
  return line === undefined ? undefined : titleOf(escapeHidden(mendText(line.toWellFormed())))
}

const AROUND = new Set(["#", "*", "_", "`", '"', "'", "“", "”", "„", "«", "»", ".", " ", "\t", "-", ">"])

function bare(line: string): string {
  const characters = [...line.replace(/^\s*title:/i, "")]
  const first = characters.findIndex((character) => !AROUND.has(character))
  const last = characters.findLastIndex((character) => !AROUND.has(character))
  return characters.slice(Math.max(first, 0), last + 1).join("")
}
