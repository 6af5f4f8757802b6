import type { PageLine } from "./page-lines.ts"

/** The words of a document, and those with a hyphen. They show whether the hyphen at a line end belongs to the word. */
export class Vocabulary {
  readonly #words = new Set<string>()

  /** Adds the words of lines, except those that are cut at a line end. */
  add(lines: readonly PageLine[]): void {
    let cut = false
    for (const { text } of lines) {
      const words = text.toLowerCase().match(WORDS) ?? []
      const ends = CUT.test(text)
      for (const word of words.slice(cut ? 1 : 0, ends ? -1 : undefined))
        if (word.length <= MAX_LETTERS) this.#words.add(word)
      cut = ends
    }
  }

  has(word: string): boolean {
    return this.#words.has(word.toLowerCase())
  }
}

const WORDS = /[\p{L}\p{N}\p{M}]+(?:[-‐][\p{L}\p{N}\p{M}]+)*/gu
const MAX_LETTERS = 64
/** A letter or number, a hyphen that may cut a word, and the end. */
const CUT = /[\p{L}\p{N}][-‐\u00AD]$/u
/** Words after a hyphen that stands for an omitted part: "Vor- und Nachteile". */
const SHARED = /^(?:und|oder|bzw|and|or|to|et|ou|y|o|e|en|of)\b/

/** Joins the lines of a page, and the words that were hyphenated at line ends. */
export function joinLines(lines: readonly PageLine[], known: Vocabulary): string {
  const parts: string[] = []
  let before = ""
  for (const { text, begins } of lines) {
    const follows = before === "" || (begins && !CUT.test(before)) ? undefined : joint(before, text, known)
    if (before === "") parts.push(text)
    else if (follows === undefined) parts.push("\n\n", text)
    else {
      if (follows.cut) parts.push(parts.pop()!.slice(0, -1))
      parts.push(follows.between, text)
    }
    before = text
  }
  // Removes the remaining soft hyphens.
  return parts.join("").replaceAll("\u00AD", "")
}

/** Returns the text between two lines, and whether the hyphen at the end of the first is removed. */
function joint(before: string, text: string, known: Vocabulary): { readonly between: string; readonly cut: boolean } {
  if (!CUT.test(before)) return { between: "\n", cut: false }
  if (before.endsWith("\u00AD")) return { between: "", cut: true }
  const first = /[\p{L}\p{N}\p{M}‐-]{1,64}$/u.exec(before.slice(-65, -1))?.[0] ?? ""
  const second = /^[\p{L}\p{N}\p{M}]{1,64}/u.exec(text)?.[0] ?? ""
  if (second === "" || SHARED.test(text)) return { between: "\n", cut: false }
  return { between: "", cut: !keepsHyphen(first, second, known) }
}

function keepsHyphen(first: string, second: string, known: Vocabulary): boolean {
  // The hyphen belongs to a name, a number, or a compound word.
  if (!/^\p{Ll}/u.test(second) || /\p{N}$/u.test(first) || /[-‐]/.test(first)) return true
  if (known.has(first + second)) return false
  return known.has(`${first}-${second}`) || (known.has(first) && known.has(second))
}
