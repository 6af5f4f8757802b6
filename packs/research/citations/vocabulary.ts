/** The vocabulary of the check for contradictions. */

const STOP_WORDS = new Set(
  [
    "a an the this that these those it its they them their he she his her we our you your i and or but so as at by for from in into of on onto to with",
    "is are was were be been being has have had do does did can could may might must shall should will would there here then than when where which who",
    "what while because if although though whereas however also only even most more less very much many some any all each both either other others",
    "such same one ones about around nearly almost over under up down out off after before between during until since per within without through",
    "versus vs compared against again still yet just already however therefore thus hence ago later instead",
    "der die das den dem des ein eine einen einem einer und oder aber ist sind war waren wurde wurden hat haben mit von zu im in am an auf für bei aus nach",
  ].flatMap((words) => words.split(" ")),
)

const NEGATING = new Set(
  "not no never none nobody nothing neither nor without cannot hardly barely scarcely fail fails failed lack lacks lacked unable non denies denied unchanged unaffected unaltered nicht kein keine keinen keinem keiner nie niemals nichts ohne ne pas jamais aucun aucune sans nunca jamás ningún ninguna sin".split(
    " ",
  ),
)
/** True if a word negates its clause. */
export const isNegating = (word: string): boolean => NEGATING.has(word) || word.endsWith("n't") || word.startsWith("n'")

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word) || word.length < 2

/** Recently computed stems: a passage repeats most of its words, and each is needed several times. */
const stems = new Map<string, string>()
const MAX_STEMS = 5_000
/** A longer word may be a slice that pins the whole passage in memory. */
const MAX_REMEMBERED = 12

/** The stem of a word: the same for `increases`, `increased` and `increasing`. */
export function stem(word: string): string {
  if (word.length > MAX_REMEMBERED) return withoutEnding(word)
  const found = stems.get(word) ?? withoutEnding(word)
  if (stems.size >= MAX_STEMS) stems.clear()
  stems.set(word, found)
  return found
}

function withoutEnding(word: string): string {
  const small = word.toLowerCase().replace(/'s$/, "")
  const known = IRREGULAR.get(small)
  if (known) return known
  const base = small
    .replace(/ies$/, "y")
    .replace(/(?<=[^aeious]{1}|[aeou])s$/, (end) => (small.length > 3 ? "" : end))
    .replace(/(?<=\p{L}{3})(?:ing|ed)$/u, "")
    .replace(/(?<=\p{L}{4})ly$/u, "")
    .replace(/([^aeiouls])\1$/, "$1")
  return base.length > 3 ? base.replace(/e$/, "").replace(/(?<=\p{L}{3})i$/u, "y") : base
}

const IRREGULAR = new Map(
  [
    "rise rose risen rises rising",
    "fall fell fallen falls falling",
    "grow grew grown grows growing",
    "lose lost loses losing",
    "win won wins winning",
    "man men",
    "woman women",
    "child children",
    "take took taken takes taking",
    "give gave given gives giving",
    "keep kept keeps keeping",
    "build built builds building",
    "get got gets getting",
    "find found finds finding",
    "show shown showed shows showing",
    "cause caused causes causing",
    "good better best",
    "go went gone goes going",
    "meet met meets meeting",
    "affect effect affected affects affecting effects",
    "bad worse worst",
  ].flatMap((row) => {
    const words = row.split(" ")
    return words.map((word) => [word, words[0] as string] as const)
  }),
)

/** Pairs of opposites. `name: these | those`. */
const OPPOSITES = [
  "increase rise rose raise grow grew gain climb boost elevate up | decrease reduce fall fell lower drop decline shrink lose lost prevent cut limit down",
  "higher greater larger bigger above | lower smaller below",
  "more | less fewer",
  "faster quicker | slower",
  "better improve best | worse worsen worst",
  "enable enabled | disable disabled",
  "allow permit legal | forbid prohibit ban illegal",
  "safe harmless | unsafe dangerous harmful",
  "effective | ineffective",
  "longer | shorter",
  "before earlier | after later",
  "include | exclude",
  "always | never",
  "win won | lose lost",
  "possible able | impossible unable",
  "related | unrelated",
  "common frequent often | rare seldom uncommon",
  "most | least",
  "positive | negative",
  "present | absent",
  "support confirm | refute contradict reject",
  "warm hot warmer hotter | cold colder cooler",
  "open | closed",
  "succeed succeeded success | fail failed failure",
  "oldest older | youngest younger newest newer",
  "north northern | south southern",
  "east eastern | west western",
  "maximum | minimum",
  "dominant | recessive",
  "significant significantly | insignificant insignificantly",
  "alive survived | dead died",
].map((pair) => pair.split(" | ").map((words) => new Set(words.split(" ").map(stem))))

/** By stem: the sides of pairs that a word names. */
const SIDES = new Map<string, readonly string[]>()
OPPOSITES.forEach((pair, index) =>
  pair.forEach((side, at) => {
    for (const word of side) SIDES.set(word, [...(SIDES.get(word) ?? []), `${index}${at === 0 ? "+" : "-"}`])
  }),
)

/** The sides of pairs that some words name: `0+`, `3-`. */
export const antonymsIn = (words: readonly string[]): Set<string> =>
  new Set(words.flatMap((word) => SIDES.get(stem(word)) ?? []))

/** The word that a prefix or an ending denies: "valid" of "invalid", "harm" of "harmless". */
export const deniedBy = (word: string): string | undefined =>
  /^(?:un|in|im|ir|il|non|dis)(\p{L}{4,40})$/u.exec(word)?.[1] ?? /^(\p{L}{4,40})less$/u.exec(word)?.[1]

/** True if one of these stems is such a word or its beginning: "pass" of "passable". */
export function hasStemOf(bare: string, stems: ReadonlySet<string>): boolean {
  for (let length = bare.length; length >= 4; length--) if (stems.has(bare.slice(0, length))) return true
  return false
}

/** Words that deny the whole clause that they start, not the word after them. */
export const isQuantifier = (word: string): boolean => /^(?:no|none|neither|nobody|nothing|kein\p{L}*)$/u.test(word)

/** A word of a pair with the word after it: `0-:swell` for `reduces swelling`. */
export function sidesWithObjects(tokens: readonly string[]): Set<string> {
  const found = new Set<string>()
  tokens.forEach((token, at) => {
    const sides = antonymsIn([token.toLowerCase()])
    if (sides.size === 0) return
    const object = tokens.slice(at + 1, at + 4).find((word) => /^\p{L}/u.test(word) && !isStopWord(word.toLowerCase()))
    if (object !== undefined) for (const side of sides) found.add(`${side}:${stem(object)}`)
  })
  return found
}

/** True if one names a word and the other only its opposite. */
export const isOpposite = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].some((side) => {
    const opposite = side.slice(0, -1) + (side.endsWith("+") ? "-" : "+")
    return other.has(opposite) && !other.has(side) && !one.has(opposite)
  })

const LESS = new Set([
  "less",
  "fewer",
  "lower",
  "smaller",
  "slower",
  "worse",
  "shorter",
  "younger",
  "cheaper",
  "weaker",
  "rarer",
  "earlier",
  "lighter",
  "colder",
])
const MORE = new Set(
  "more greater higher larger bigger better faster quicker longer older later stronger heavier taller".split(" "),
)
const VERBS = new Set(["outperform", "exceed", "surpass", "beat", "outnumber", "outweigh", "outlive"].map(stem))
/** The most words between the compared adjective and `than`. */
export const MAX_WORDS_BEFORE_THAN = 6

interface Comparator {
  readonly direction: "more" | "less"
  /** The word that says so, such as "fewer". */
  readonly degree: string
  readonly end: number
  readonly isPassive: boolean
}

/** A comparison at a word: whether it means more or less, and where the text after it starts. */
export function comparatorAt(words: readonly string[], at: number): Comparator | undefined {
  const word = words[at] ?? ""
  if (VERBS.has(stem(word))) {
    const isPassive = words[at + 1] === "by"
    return { direction: "more", degree: "", end: at + (isPassive ? 2 : 1), isPassive }
  }
  if (word !== "than") return undefined
  const isDegree = (each: string) => LESS.has(each) || MORE.has(each)
  // "Younger pilots made more errors than …": the nearest counts.
  const degree = words.slice(Math.max(0, at - MAX_WORDS_BEFORE_THAN), at).findLast(isDegree) ?? ""
  return { direction: LESS.has(degree) ? "less" : "more", degree, end: at + 1, isPassive: false }
}

/** Units by dimension, each with its factor to the first one. */
const UNITS: Readonly<Record<string, string>> = {
  mass: "g 1 gram 1 grams 1 mg 1e-3 milligrams 1e-3 milligram 1e-3 µg 1e-6 μg 1e-6 mcg 1e-6 micrograms 1e-6 microgram 1e-6 ng 1e-9 nanograms 1e-9 kg 1e3 kilograms 1e3 kilogram 1e3 kilos 1e3 t 1e6 ton 1e6 tons 1e6 tonnes 1e6 tonne 1e6",
  volume:
    "cubicmetres 1e3 l 1 liter 1 liters 1 litre 1 litres 1 ml 1e-3 millilitres 1e-3 milliliters 1e-3 µl 1e-6 microlitres 1e-6 microliters 1e-6 dl 1e-1 gallons 3.785",
  length:
    "m 1 metre 1 metres 1 meter 1 meters 1 mm 1e-3 millimetres 1e-3 millimeters 1e-3 cm 1e-2 centimetres 1e-2 centimeters 1e-2 km 1e3 kilometres 1e3 kilometers 1e3 µm 1e-6 micrometres 1e-6 micrometers 1e-6 nm 1e-9 nanometres 1e-9 nanometers 1e-9 miles 1609.3 mile 1609.3 feet 0.3048 foot 0.3048 ft 0.3048 inches 0.0254 inch 0.0254 yards 0.9144",
  time: "s 1 second 1 seconds 1 sec 1 ms 1e-3 milliseconds 1e-3 µs 1e-6 microseconds 1e-6 ns 1e-9 nanoseconds 1e-9 min 60 minute 60 minutes 60 h 3600 hour 3600 hours 3600 day 86400 days 86400 week 604800 weeks 604800 month 2629800 months 2629800 year 31557600 years 31557600 decades 315576000 decade 315576000 centuries 3155760000 century 3155760000",
  share: "% 1 percent 1 percentage 1 pp 1 ‰ 0.1 prozent 1",
  data: "b 1 bytes 1 byte 1 kb 1e3 kilobytes 1e3 mb 1e6 megabytes 1e6 gb 1e9 gigabytes 1e9 tb 1e12 terabytes 1e12",
  power: "w 1 watts 1 watt 1 kw 1e3 kilowatts 1e3 mw 1e6 megawatts 1e6 gw 1e9 gigawatts 1e9",
  frequency: "hz 1 hertz 1 khz 1e3 kilohertz 1e3 mhz 1e6 megahertz 1e6 ghz 1e9 gigahertz 1e9",
  area: "squaremetres 1 hectare 1e4 hectares 1e4 ha 1e4",
  energy: "joule 1 joules 1 kj 1e3 mj 1e6 kwh 3.6e6 mwh 3.6e9 gwh 3.6e12 kcal 4184",
  voltage: "v 1 volt 1 volts 1 mv 1e-3 kv 1e3 kilovolts 1e3",
  current: "ampere 1 amperes 1 amps 1 ma 1e-3",
  pressure: "pa 1 pascal 1 kpa 1e3 mmhg 133.322 bar 1e5 atm 101325",
  speed: "mph 1 knots 1.151 kmh 0.6214",
  celsius: "°c 1 celsius 1 °C 1",
  fahrenheit: "°f 1 fahrenheit 1 °F 1",
  kelvin: "kelvin 1 kelvins 1",
  dollars: "$ 1 dollars 1 dollar 1 usd 1",
  euros: "€ 1 euros 1 euro 1 eur 1",
  pounds: "£ 1 gbp 1",
}
const KNOWN_UNITS = new Map(
  Object.entries(UNITS).flatMap(([dimension, row]) => {
    const words = row.split(" ")
    return words.flatMap((word, at) =>
      at % 2 === 0 ? [[word, { dimension, factor: Number(words[at + 1]) }] as const] : [],
    )
  }),
)
const FACTORS = new Map(
  Object.keys(UNITS).map((dimension) => [
    dimension,
    [...new Set([...KNOWN_UNITS.values()].flatMap((each) => (each.dimension === dimension ? [each.factor] : [])))],
  ]),
)

/** The units of a dimension in its base unit. */
export const factorsOf = (dimension: string): readonly number[] => FACTORS.get(dimension) ?? []

const TIMES = new Map<string, number>([
  ...(["hundred", "hundreds"] as const).map((word) => [word, 1e2] as const),
  ...(["thousand", "thousands", "k"] as const).map((word) => [word, 1e3] as const),
  ...(["million", "millions", "mio", "millionen"] as const).map((word) => [word, 1e6] as const),
  ...(["billion", "billions", "bn", "milliarden", "milliards"] as const).map((word) => [word, 1e9] as const),
  ...(["trillion", "trillions"] as const).map((word) => [word, 1e12] as const),
])

/** The unit of a number, from the words after it or a sign before it. */
export function unitOf(after: readonly string[], before: string) {
  const isMoney = /^[$€£]$/.test(before)
  // €4.2m, where "m" is not a length.
  const times = isMoney && after[0] === "m" ? 1e6 : TIMES.get(after[0]?.toLowerCase() ?? "")
  const behind = times === undefined ? (after[0] ?? "") : (after[1] ?? "")
  const own = KNOWN_UNITS.get(behind) ?? KNOWN_UNITS.get(behind.toLowerCase())
  const sign = own ? undefined : KNOWN_UNITS.get(before)
  const isSign = sign && isMoney
  const known = own ?? (isSign ? sign : undefined)
  // A count of millions is in millions.
  const dimension = known?.dimension ?? (times === undefined ? "" : "count")
  const name = own ? (behind.length <= 3 ? behind : stem(behind)) : isSign ? before : ""
  const unit = [times === undefined ? "" : String(times), name].filter(Boolean).join(" ")
  return {
    unit,
    dimension,
    factor: (times ?? 1) * (known?.factor ?? 1),
    length: (times === undefined ? 0 : 1) + (own ? 1 : 0),
  }
}
