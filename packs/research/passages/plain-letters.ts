/** Ligatures and compatibility characters, which are not used in searches and quotes. */
const FORMS =
  /[\u00a0\u00b5\u037e\u0eb3\u2000-\u200a\u2126\u202f\u2f00-\u2fdf\uf900-\ufaff\ufb00-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\uff65-\uff9f\u{2f800}-\u{2fa1f}]+/gu
const RADICALS = /[\u2e80-\u2ef3]/g

/** Radicals that some fonts use instead of the same character, and that NFKC does not convert. */
const OF_RADICALS = new Map(
  Array.from(
    "⺃乚⺅亻⺉刂⺌⺌⺎兀⺐尢⺒巳⺓幺⺖忄⺘扌⺙攵⺛旡⺜日⺝月⺞歺⺠民⺡氵⺢氺⺣灬⺤爫⺦丬⺧牛⺨犭⺩王⺪疋⺫目⺬示⺭礻⺮竹⺯糹⺰纟⺱罓⺲罒⺶羊⺷羊⺹耂⺺肀⺻聿⺼月⺽臼⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见⻆角⻈讠⻉贝⻋车⻌辶⻍辶⻎辶⻐钅⻑長⻒镸⻓长⻔门⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀".matchAll(
      /(.)(.)/gu,
    ),
    ([, radical, letter]) => [radical!, letter!] as const,
  ),
)

/**
 * Converts ligatures, positional forms of Arabic letters, and radicals to normal letters, so that searches find them.
 */
export const toPlainLetters = (text: string): string =>
  text
    .replaceAll(FORMS, (forms) => forms.replaceAll(/[\ufe70-\ufe7f]|[^\ufe70-\ufe7f]+/gu, toPlain))
    .replaceAll(RADICALS, (radical) => OF_RADICALS.get(radical) ?? radical.normalize("NFKC"))

/** NFKC adds a space before a single combining mark, which is removed here. */
const toPlain = (forms: string): string => {
  const plain = forms.normalize("NFKC")
  return /^[\ufe70-\ufe7f]/.test(forms) ? plain.trim() : plain
}

/** Characters that only a specific font defines. */
const UNKNOWN = /[\ue000-\uf8ff\ufffd\u{f0000}-\u{10fffd}]/gu

export const countUnknown = (text: string): number => text.match(UNKNOWN)?.length ?? 0
