/** The destination of a group's text. */
export type Destination = "body" | "nowhere" | "fonts" | "info" | "title" | "authors"

/** Groups without text of the document: tables of fonts and styles, pictures, headers and footers, index entries. */
const NOWHERE = `colortbl stylesheet listtable revtbl filetbl pict nonshppict nonesttables objdata fldinst sp sn sv
  header headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn
  xe tc tcn txe rxe bkmkstart bkmkend template private themedata datastore`

const DESTINATIONS = new Map<string, Destination>([
  ...NOWHERE.split(/\s+/).map((name) => [name, "nowhere"] as const),
  ["fonttbl", "fonts"],
  ["info", "info"],
  ["title", "title"],
  ["author", "authors"],
])

/** Starred groups are optional for readers. These contain visible text. */
const SHOWN = new Set(["shpinst"])

/** Undefined for a word that is not a destination: the group then inherits its parent's. */
export function destinationOf(word: string, starred: boolean): Destination | undefined {
  return DESTINATIONS.get(word) ?? (starred && !SHOWN.has(word) ? "nowhere" : undefined)
}

/** Control words and symbols for characters. */
export const SIGNS = new Map<string, string>([
  ["tab", "\t"],
  ["line", "\n"],
  ["cell", "\t"],
  ["nestcell", "\t"],
  ["row", "\n"],
  ["nestrow", "\n"],
  ["emdash", "—"],
  ["endash", "–"],
  ["lquote", "‘"],
  ["rquote", "’"],
  ["ldblquote", "“"],
  ["rdblquote", "”"],
  ["bullet", "•"],
  ["emspace", "\u2003"],
  ["enspace", "\u2002"],
  ["zwj", "\u200D"],
  ["zwnj", "\u200C"],
  ["ltrmark", "\u200E"],
  ["rtlmark", "\u200F"],
  ["~", "\u00A0"],
  ["_", "-"],
])

/** Words that end a paragraph. */
export const ENDS = new Set(["par", "sect", "page", "column", "\n", "\r"])
