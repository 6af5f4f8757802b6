/** Where the letters of an alphabet begin in Unicode: capitals, small ones, digits. */
const ALPHABETS = new Map<string, readonly [number, number, number?]>(
  Object.entries({
    bold: [0x1d400, 0x1d41a, 0x1d7ce],
    italic: [0x1d434, 0x1d44e],
    "bold-italic": [0x1d468, 0x1d482],
    script: [0x1d49c, 0x1d4b6],
    fraktur: [0x1d504, 0x1d51e],
    "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
    "bold-fraktur": [0x1d56c, 0x1d586],
    "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2],
    "bold-sans-serif": [0x1d5d4, 0x1d5ee, 0x1d7ec],
    "sans-serif-italic": [0x1d608, 0x1d622],
    monospace: [0x1d670, 0x1d68a, 0x1d7f6],
  }),
)

/** Small and capital Greek begin here. */
const GREEK = new Map<string, readonly [number, number]>(
  Object.entries({
    bold: [0x1d6a8, 0x1d6c2],
    "bold-italic": [0x1d71c, 0x1d736],
  }),
)

/** Letters that Unicode had before it had the others. */
const ELSEWHERE = new Map<string, string>(
  Object.entries({
    ...{ "italic h": "ℎ", "script B": "ℬ", "script E": "ℰ", "script F": "ℱ", "script H": "ℋ", "script I": "ℐ" },
    ...{ "script L": "ℒ", "script M": "ℳ", "script R": "ℛ", "script e": "ℯ", "script g": "ℊ", "script o": "ℴ" },
    ...{ "fraktur C": "ℭ", "fraktur H": "ℌ", "fraktur I": "ℑ", "fraktur R": "ℜ", "fraktur Z": "ℨ" },
    ...{ "double-struck C": "ℂ", "double-struck H": "ℍ", "double-struck N": "ℕ", "double-struck P": "ℙ" },
    ...{ "double-struck Q": "ℚ", "double-struck R": "ℝ", "double-struck Z": "ℤ" },
  }),
)

/** Letters of another alphabet, such as ℝ: browsers draw them by what they are, and no longer by an attribute. */
export function toVariant(text: string, variant: string | null): string {
  const latin = ALPHABETS.get(variant ?? "")
  if (!latin) return text
  const greek = GREEK.get(variant ?? "")
  return Array.from(text, (letter) => {
    const code = letter.codePointAt(0) as number
    const from = (first: number, start: number | undefined) =>
      start === undefined ? letter : String.fromCodePoint(start + code - first)
    const known = ELSEWHERE.get(`${variant} ${letter}`)
    if (known) return known
    if (/[A-Z]/.test(letter)) return from(0x41, latin[0])
    if (/[a-z]/.test(letter)) return from(0x61, latin[1])
    if (/[0-9]/.test(letter)) return from(0x30, latin[2])
    if (/[Α-Ω]/.test(letter)) return from(0x391, greek?.[0])
    return /[α-ω]/.test(letter) ? from(0x3b1, greek?.[1]) : letter
  }).join("")
}
