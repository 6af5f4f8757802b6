export type EastAsianEncoding = "shift_jis" | "euc-jp" | "gb18030" | "big5" | "euc-kr"

/** A kind of characters: its share of a text, and over how many characters that is spread. */
type Kind = readonly [mass: number, characters: number]

/**
 * Typical text in an encoding: the kinds of characters, and to which one two bytes belong. The last kind is all others.
 */
interface Habit {
  readonly encoding: EastAsianEncoding
  readonly kinds: readonly Kind[]
  /** How many of the first kinds are common in ordinary text. */
  readonly usual: number
  readonly kindOf: (lead: number, trail: number) => number
}

/** If the two likeliest are closer than this, neither is chosen. */
const SURE = Math.log(100)

const within = (value: number, from: number, to: number) => value >= from && value <= to

const shiftJis = (lead: number, trail: number) => {
  if (lead === 0x82 && within(trail, 0x9f, 0xf1)) return 0
  if (lead === 0x83 && within(trail, 0x40, 0x96)) return 1
  if (within(lead, 0x88, 0x97)) return 2
  return lead === 0x81 || lead === 0x82 ? 3 : 4
}
const eucJapanese = (lead: number, trail: number) => {
  if (lead === 0xa4) return 0
  if (lead === 0xa5 && trail <= 0xf6) return 1
  if (within(lead, 0xb0, 0xcf)) return 2
  return lead === 0xa1 || lead === 0xa3 ? 3 : 4
}
const PROSE: readonly Kind[] = [
  [0.4, 83],
  [0.2, 86],
  [0.32, 2965],
  [0.06, 250],
  [0.02, 8000],
]
/** Lists of names have no word endings, and so hardly any kana. */
const NAMES: readonly Kind[] = [
  [0.03, 83],
  [0.06, 86],
  [0.85, 2965],
  [0.04, 250],
  [0.02, 8000],
]

const HABITS: readonly Habit[] = [
  { encoding: "shift_jis", kinds: PROSE, usual: 4, kindOf: shiftJis },
  { encoding: "shift_jis", kinds: NAMES, usual: 4, kindOf: shiftJis },
  { encoding: "euc-jp", kinds: PROSE, usual: 4, kindOf: eucJapanese },
  { encoding: "euc-jp", kinds: NAMES, usual: 4, kindOf: eucJapanese },
  {
    encoding: "gb18030",
    kinds: [
      [0.9, 3755],
      [0.06, 190],
      [0.03, 3008],
      [0.01, 15_000],
    ],
    usual: 2,
    kindOf: (lead, trail) => {
      if (trail < 0xa1) return 3
      if (within(lead, 0xb0, 0xd7)) return 0
      if (lead === 0xa1 || lead === 0xa3) return 1
      return within(lead, 0xd8, 0xf7) ? 2 : 3
    },
  },
  {
    encoding: "big5",
    kinds: [
      [0.9, 5401],
      [0.06, 400],
      [0.03, 7652],
      [0.01, 5000],
    ],
    usual: 2,
    kindOf: (lead) => {
      if (within(lead, 0xa4, 0xc6)) return 0
      if (within(lead, 0xa1, 0xa3)) return 1
      return within(lead, 0xc9, 0xf9) ? 2 : 3
    },
  },
  {
    encoding: "euc-kr",
    kinds: [
      [0.9, 2350],
      [0.06, 280],
      [0.03, 4888],
      [0.01, 8800],
    ],
    usual: 2,
    kindOf: (lead, trail) => {
      if (trail < 0xa1) return 3
      if (within(lead, 0xb0, 0xc8)) return 0
      if (within(lead, 0xa1, 0xa3)) return 1
      return within(lead, 0xca, 0xfd) ? 2 : 3
    },
  },
]

/**
 * Finds the Chinese, Japanese or Korean encoding in which the bytes are typical text. All of them use two bytes per
 * character, and what is frequent in one is rare in another. Returns two if they cannot be distinguished, and none if
 * no encoding fits.
 */
export function findEastAsian(bytes: Uint8Array): readonly EastAsianEncoding[] {
  const likely = new Map<EastAsianEncoding, number>()
  for (const habit of HABITS) {
    const found = likelihood(bytes, habit)
    if (found === undefined) continue
    const before = likely.get(habit.encoding)
    if (before === undefined || found > before) likely.set(habit.encoding, found)
  }
  const [best, next] = [...likely].filter(([encoding]) => fits(bytes, encoding)).sort((a, b) => b[1] - a[1])
  if (!best) return []
  return next && best[1] - next[1] < SURE ? [best[0], next[0]] : [best[0]]
}

/** Undefined if much of it is rare, because then it is another script. */
function likelihood(bytes: Uint8Array, { encoding, kinds, usual, kindOf }: Habit): number | undefined {
  const costs = kinds.map(([mass, characters]) => Math.log(mass / characters))
  const rest = kinds.length - 1
  let [sum, wide, odd] = [0, 0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0
    if (lead < 128) continue
    // Half-width kana are one byte, and typical of old machines.
    const isSingle = encoding === "shift_jis" && within(lead, 0xa1, 0xdf)
    const kind = isSingle ? rest : kindOf(lead, bytes[++at] ?? 0)
    sum += costs[kind] ?? 0
    wide++
    if (kind >= usual) odd++
  }
  return odd > wide / 4 ? undefined : sum
}

/** The last line may be cut. */
function fits(bytes: Uint8Array, encoding: EastAsianEncoding): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
