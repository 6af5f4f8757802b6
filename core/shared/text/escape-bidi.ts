/** Controls that change the direction of the text after them, up to an end mark or the end of the paragraph. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/
const ALL_TURNS = /[\u202A-\u202E\u2066-\u2069\n]/g
/** Overrides draw letters against their own direction. No language needs them. */
const OVERRIDES = "\u202D\u202E"
const EMBEDDINGS = "\u202A\u202B"
const END_OF_EMBEDDING = "\u202C"
const END_OF_ISOLATE = "\u2069"

/**
 * Replaces bidirectional controls that affect text beyond their own line with their code points, such as `⟨U+202E⟩`.
 * Embeddings and isolates that end on their own line stay, and so do single marks, because Hebrew and Arabic need them.
 */
export function escapeBidi(text: string): string {
  if (!TURNS.test(text)) return text
  const needed = pairsIn(text)
  return text.replaceAll(ALL_TURNS, (character, at: number) =>
    character === "\n" || needed.has(at) ? character : toNumber(character),
  )
}

/** Replaces all bidirectional controls, for text that never needs them, such as code. */
export const escapeAllBidi = (text: string): string =>
  TURNS.test(text)
    ? text.replaceAll(ALL_TURNS, (character) => (character === "\n" ? character : toNumber(character)))
    : text

/** Finds pairs that start and end on one line, with everything between them closed. */
function pairsIn(text: string): Set<number> {
  const needed = new Set<number>()
  let open: { readonly at: number; readonly endsWith: string }[] = []
  for (const { 0: character, index: at } of text.matchAll(ALL_TURNS)) {
    if (character === "\n") open = []
    else if (OVERRIDES.includes(character)) open.push({ at, endsWith: "" })
    else if (character !== END_OF_EMBEDDING && character !== END_OF_ISOLATE)
      open.push({ at, endsWith: EMBEDDINGS.includes(character) ? END_OF_EMBEDDING : END_OF_ISOLATE })
    else if (open.at(-1)?.endsWith === character) {
      needed.add(open.pop()?.at ?? at)
      needed.add(at)
    }
  }
  return needed
}

const toNumber = (character: string): string => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`
