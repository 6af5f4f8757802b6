/** A number as written in an answer, and its possible values. */
export interface Figure {
  readonly text: string
  readonly values: readonly number[]
  /** The tolerance of a value: half of its last digit, or more if the sentence says "about". */
  readonly slack: (value: number) => number
}

const DIGITS = /\d[\d.,'’\u00A0\u2009\u202F]*/g
/** Longer digit strings are identifiers. */
const MAX_DIGITS = 30
/** Digits that are not numbers: addresses, dates, times. */
const NAMES = /https?:\/\/\S+|\d{4}-\d{2}(?:-\d{2})?|\d{1,2}:\d{2}/g
/** Versions and ids of papers. */
const NAME = /^(?:\d{4}\.\d{4,5}|10\.\d{4,9}|\d{1,3}(?:\.\d{1,2}){2,9})$/
const DATE_BEHIND =
  /^(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|fév|avr|juin|juil|août|ene|abr|ago|dic)/i
const DATE_BEFORE =
  /(?<![\p{L}])(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|fév|avr|juin|juil|août|ene|abr|ago|dic)\p{L}{0,7}\.?\s$/iu
const COUNTED =
  /(?<![\p{L}])(?:fig(?:ure|s)?|tab(?:le|elle)?|sec(?:tion)?|ch(?:apter)?|pages?|pp?|no|nr|number|step|phase|stage|level|grade|type|version|v|appendix|equation|eq|item|point|question|abbildung|kapitel|seite|abschnitt|schritt|punkt|figura|tabla|página|tableau|chapitre|sources?|passages?|quellen?|class|category|day|week|year|jahr|tag|model|part|teil)s?\.?\s?[#§]?$/iu
const HEDGE =
  /(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|under|up to|at least|at most|(?:more|less|fewer) than|some|~|≈|>|<|≥|≤|circa|ca\.|rund|etwa|ungefähr|fast|über|unter|knapp|mehr als|weniger als|environ|presque|plus de|moins de|unos|casi|más de|menos de|alrededor de)\s*[$€£]?$/i
const UNIT =
  /^\s?(?:%|‰|°|percent|per cent|prozent|pour cent|por ciento|mg|µg|μg|ng|kg|g|ml|l|dl|mm|cm|km|m|nm|ms|s|min|h|hz|khz|mhz|ghz|kb|mb|gb|tb|w|kw|mw|v|ev|k|c|usd|eur|dollars?|euros?|[$€£])(?![\p{L}])/iu
const MULTIPLIERS: readonly (readonly [RegExp, number])[] = [
  [/^\s?(?:thousand|tausend|mille|mil|k)(?![\p{L}])/iu, 1e3],
  [/^\s?(?:million(?:s|en)?|mio\.?|millón|millones|m)(?![\p{L}])/iu, 1e6],
  [/^\s?(?:billions?|bn|milliarden?|mrd\.?|milliards?|mil millones)(?![\p{L}])/iu, 1e9],
]
const SMALL = 12
const NEAR = 40

/**
 * The numbers of a sentence that its source should contain. Years, list numbers, names and small counts are left out.
 */
export function figuresIn(sentence: string): Figure[] {
  const words = sentence
    .replaceAll(NAMES, (name) => " ".repeat(name.length))
    .replaceAll(/(?<!\d)(\d{1,3}) (?=\d{3}(?!\d))/g, "$1\u00A0")
    .replace(/^\s*(?:[-*+•>]\s+){0,3}\d{1,3}[.)]\s/, (item) => " ".repeat(item.length))
  return [...words.matchAll(DIGITS)].flatMap(({ 0: found, index }): Figure[] => {
    const text = withoutEnd(found)
    if (text.length > MAX_DIGITS || NAME.test(text)) return []
    if (/[\p{L}\p{N}_.,]/u.test(words[index - 1] ?? "") || /[\p{L}_]/u.test(words[index + text.length] ?? "")) return []
    const before = words.slice(Math.max(0, index - NEAR), index)
    const behind = words.slice(index + text.length, index + text.length + NEAR)
    const isNamed = /\p{L}[-–/]$/u.test(before) || COUNTED.test(before) || /[#§]\s?$/.test(before)
    if (isNamed || DATE_BEHIND.test(behind) || DATE_BEFORE.test(before)) return []
    const hasUnit = UNIT.test(behind) || /[$€£]\s?$/.test(before)
    if (!hasUnit && (/^(?:1[5-9]|20)\d\d$/.test(text) || (/^\d+$/.test(text) && Number(text) <= SMALL))) return []
    // Two adjacent numbers look like one with a space.
    const parts = text.includes("\u00A0") ? text.split("\u00A0").flatMap(readings) : []
    const plain = [...readings(text), ...parts]
    const times = MULTIPLIERS.find(([word]) => word.test(behind))?.[1]
    const shares = /^\s?(?:%|percent|per cent|prozent)/i.test(behind) ? plain.map((value) => value / 100) : []
    const isAbout = HEDGE.test(before)
    // Half of its last digit, which differs if `1,234` means a decimal.
    const places = /[.,](\d+)$/.exec(text)?.[1]?.length ?? 0
    const joined = Number(text.replaceAll(/\D/g, ""))
    const stepOf = (value: number) => (value === joined ? 0.5 : 0.5 * 10 ** -places)
    const slack = (value: number) => {
      const base = plain.includes(value)
        ? stepOf(value)
        : shares.includes(value)
          ? stepOf(value * 100) / 100
          : stepOf(value / (times ?? 1)) * (times ?? 1)
      return Math.max(isAbout ? Math.abs(value) * 0.1 : 0, base) + 1e-9
    }
    return [{ text, values: [...plain, ...plain.map((value) => value * (times ?? 1)), ...shares], slack }]
  })
}

/**
 * A full stop after a number ends its sentence. By hand, because a pattern would start again at each character of a
 * run.
 */
function withoutEnd(digits: string): string {
  let end = digits.length
  while (end > 0 && !/\d/.test(digits[end - 1] as string)) end--
  return digits.slice(0, end)
}

/** `1,234` and `1.234` depend on the language, so both readings count. */
function readings(text: string): number[] {
  const plain = text.replaceAll(/['’\u00A0\u2009\u202F]/g, "")
  const separators = plain.match(/[.,]/g) ?? []
  if (separators.length === 0) return [Number(plain)]
  const last = separators.at(-1) as string
  const joined = Number(plain.replaceAll(/[.,]/g, ""))
  const isRepeated = separators.length > 1 && separators.every((each) => each === last)
  if (isRepeated) return [joined]
  const [whole = "", part = ""] = [plain.slice(0, plain.lastIndexOf(last)), plain.slice(plain.lastIndexOf(last) + 1)]
  const decimal = Number(`${whole.replaceAll(/[.,]/g, "")}.${part}`)
  return part.length === 3 ? [decimal, joined] : [decimal]
}

/** All numbers in a source, in digits or in words. */
export function valuesIn(text: string): number[] {
  const values: number[] = []
  let [joined, end] = ["", -1]
  for (const { 0: found, index } of text.matchAll(DIGITS)) {
    const digits = withoutEnd(found)
    if (digits.length > MAX_DIGITS) continue
    const behind = text.slice(index + digits.length, index + digits.length + NEAR)
    const times = MULTIPLIERS.find(([word]) => word.test(behind))?.[1] ?? 1
    for (const value of readings(digits)) values.push(value, value * times)
    // 10 000
    const continues = end === index - 1 && text[end] === " " && /^\d{3}$/.test(digits) && joined.length <= MAX_DIGITS
    joined = continues ? joined + digits : /^\d{1,3}$/.test(digits) ? digits : ""
    end = joined === "" ? -1 : index + digits.length
    if (continues) values.push(Number(joined))
  }
  let tens = 0
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    const value = WORDS.get(word)
    if (value !== undefined) values.push(value, ...(tens && value < 10 ? [tens + value] : []))
    tens = value !== undefined && value >= 20 && value < 100 ? value : 0
  }
  return values.filter(Number.isFinite)
}

const ROWS: readonly string[] = [
  "0 zero null cero zéro",
  "1 one once single ein eine einen einem einer eins un une uno una",
  "2 two twice double both zwei doppelt beide deux dos doble",
  "3 three thrice triple drei trois tres",
  "4 four vier quatre cuatro",
  "5 five fünf cinq cinco",
  "6 six sechs seis",
  "7 seven sieben sept siete",
  "8 eight acht huit ocho",
  "9 nine neun neuf nueve",
  "10 ten zehn dix diez",
  "11 eleven elf onze once",
  "12 twelve dozen zwölf dutzend douze doce",
  "13 thirteen dreizehn treize trece",
  "14 fourteen vierzehn quatorze catorce",
  "15 fifteen fünfzehn quinze quince",
  "16 sixteen sechzehn seize dieciséis",
  "17 seventeen siebzehn",
  "18 eighteen achtzehn",
  "19 nineteen neunzehn",
  "20 twenty zwanzig vingt veinte",
  "25 quarter viertel",
  "30 thirty dreißig trente treinta",
  "40 forty vierzig quarante cuarenta",
  "50 fifty half fünfzig hälfte cinquante moitié cincuenta mitad",
  "60 sixty sechzig soixante sesenta",
  "70 seventy siebzig setenta",
  "80 eighty achtzig ochenta",
  "90 ninety neunzig noventa",
  "100 hundred hundert cent cien ciento all alle tous todos",
  "1000 thousand tausend mille mil",
]
const WORDS: ReadonlyMap<string, number> = new Map(
  ROWS.flatMap((row) => {
    const [value, ...words] = row.split(" ")
    return words.map((word) => [word, Number(value)] as const)
  }),
)

/** Words of the table that are not counts by themselves. */
const NO_COUNT = new Set(
  "one once single ein eine einen einem einer eins un une uno una twice double both doppelt beide doble thrice triple quarter viertel half hälfte moitié mitad null zero cero zéro all alle tous todos hundred thousand hundert cent cien ciento tausend mille mil".split(
    " ",
  ),
)

/** The number of a word; undefined for words such as `half` and `both`. */
export const numberWord = (word: string): number | undefined => (NO_COUNT.has(word) ? undefined : WORDS.get(word))
