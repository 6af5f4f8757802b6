import { INVISIBLE } from "./hidden-characters.ts"

/** Invisible characters can spell instructions for a model, in runs of any length. A legitimate run is short. */
const RUNS = new RegExp(`[${INVISIBLE}]+`, "gu")

/** The flags of England, Scotland and Wales: a black flag, the region in tag characters, the end of tags. */
const FLAGS = new Set(["gbeng", "gbsct", "gbwls"].map((region) => `${toTags(region)}\u{E007F}`))
const PICTURE_BEFORE = /[\p{Extended_Pictographic}\u{1F3FB}-\u{1F3FF}]$/u
const PICTURE_AFTER = /^\p{Extended_Pictographic}/u
/** Scripts such as Persian and the Indian ones join or separate letters with a character of zero width. */
const JOINING = /[\p{Letter}\p{Mark}]/u
const PLAIN = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}]/u

/**
 * Untrusted text for a model: hidden characters are removed and counted in their place, such as `⟨12 hidden
 * characters⟩`. Joiners of letters and emoji, single direction marks, and flags stay.
 */
export function showHidden(text: string): string {
  return text.replace(RUNS, (run, at: number) => {
    const before = text.slice(Math.max(0, at - 2), at)
    const after = text.slice(at + run.length, at + run.length + 2)
    return isNeeded(run, before, after) ? run : inSight(run)
  })
}

function isNeeded(run: string, before: string, after: string): boolean {
  if (before.endsWith("\u{1F3F4}") && FLAGS.has(run)) return true
  switch (run) {
    case "\u00AD": // a hyphen that is visible at the end of a line
    case "\u061C":
    case "\u200E":
    case "\u200F":
      return true
    case "\uFEFF": // the byte order mark of a file
      return before === ""
    case "\u200C":
    case "\u200D":
      return joins(before, after)
    case "\uFE0F\u200D":
      return PICTURE_BEFORE.test(before) && PICTURE_AFTER.test(after)
    default:
      return /^[\uFE00-\uFE0F]$/.test(run) ? before !== "" : isVariant(run, before)
  }
}

function joins(before: string, after: string): boolean {
  if (PICTURE_BEFORE.test(before) && PICTURE_AFTER.test(after)) return true
  const [last = "", next = ""] = [[...before].at(-1), [...after][0]]
  return JOINING.test(last) && !PLAIN.test(last) && !PLAIN.test(next)
}

/** Another shape of a Chinese character. */
const isVariant = (run: string, before: string): boolean =>
  /^[\u{E0100}-\u{E01EF}]$/u.test(run) && /\p{Script=Han}$/u.test(before)

/** Many programs leave single zero-width spaces, which mean nothing: they are removed without a note. */
function inSight(run: string): string {
  const characters = [...run]
  if (characters.length > 1) return `⟨${characters.length} hidden characters⟩`
  if (run === "\u200B" || run === "\u2060" || run === "\uFEFF") return ""
  return `⟨U+${(run.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`
}

function toTags(text: string): string {
  return [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")
}
