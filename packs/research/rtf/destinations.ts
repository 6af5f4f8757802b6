/** The destination of a group's text. */
export type Destination = "body" | "nowhere" | "fonts" | "info" | "title" | "authors"

/** Groups that hold something else than the text: tables, pictures, what is repeated on each page, entries of an index. */
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

/** Groups with a star may be left out by who does not know them; these hold text that is shown. */
const SHOWN = new Set(["shpinst"])

/** Undefined for a word that opens none: the group goes where the one around it goes. */
export function destinationOf(word: string, starred: boolean): Destination | undefined {
  return DESTINATIONS.get(word) ?? (starred && !SHOWN.has(word) ? "nowhere" : undefined)
}

/** Words and symbols that are signs. */
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
