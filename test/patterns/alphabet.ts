import type { Pattern } from "./parse-pattern.ts"

/** Characters of every kind that a pattern of ours tells apart. */
const SAMPLES = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u00a0\u00adéßÜΩя中あ\u0301\u200b\u200d\u202e\u2028\u2029\u3000\ufe0f\uffa0\u034f\ue0f0\ue0f1\ue100\ud800٣½–—―‑…“”„‘’«»。！？⟨",
  ..."😀🏽\u{e0041}\u{e0100}",
]

/** The characters that a pattern tells apart, one of each kind, and what each of its sets holds of them. */
export class Alphabet {
  readonly letters: readonly string[]
  readonly words: bigint
  readonly lineEnds: bigint
  /** Beyond the last letter: where a text begins, seen backwards, or ends, seen forwards. */
  readonly edge: bigint
  readonly everything: bigint
  readonly #holds = new Map<string, bigint>()

  constructor(pattern: Pattern, flags: string) {
    const sources = [...new Set([...setsIn(pattern), "\\w", "[\\n\\r\\u2028\\u2029]"])]
    const tests = sources.map((source) => new RegExp(`^(?:${source})$`, flags.replaceAll(/[^iuvs]/g, "")))
    const written = sources.flatMap((source) => [...source].filter((letter) => letter > "\x7f"))
    const kinds = new Map<string, string>()
    for (const letter of [..."ax1 ", ...SAMPLES, ...written]) {
      // Without the flag such a character is two to the engine.
      if (letter.length > 1 && !/[uv]/.test(flags)) continue
      const kind = tests.map((test) => (test.test(letter) ? 1 : 0)).join("")
      if (!kinds.has(kind)) kinds.set(kind, letter)
    }
    this.letters = [...kinds.values()]
    const marks = [...kinds.keys()]
    const holds = (index: number) =>
      marks.reduce((mask, mark, letter) => (mark[index] === "1" ? mask | (1n << BigInt(letter)) : mask), 0n)
    for (const [index, source] of sources.entries()) this.#holds.set(source, holds(index))
    this.words = this.of("\\w")
    this.lineEnds = this.of("[\\n\\r\\u2028\\u2029]")
    this.edge = 1n << BigInt(this.letters.length)
    this.everything = (this.edge << 1n) - 1n
  }

  of(source: string): bigint {
    return this.#holds.get(source) ?? 0n
  }
}

function setsIn(pattern: Pattern): string[] {
  if (pattern.type === "set") return [pattern.source]
  if (pattern.type === "edge" || pattern.type === "again") return []
  return Array.isArray(pattern.of) ? pattern.of.flatMap(setsIn) : setsIn(pattern.of as Pattern)
}
