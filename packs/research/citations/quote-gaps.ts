/** Negations in lower case, in the supported languages and some others. */
const NEGATIONS: ReadonlySet<string> = new Set(
  [
    "not no never none nobody nothing neither nor without cannot hardly barely scarcely rarely seldom unless except unlikely",
    "fail fails failed failing lack lacks lacked lacking absence absent denies denied refuted disproved false contrary rather instead",
    "nicht kein keine keinen keinem keiner keines keinerlei nie niemals nichts niemand weder ohne kaum ausser außer statt falsch",
    "ne pas jamais aucun aucune sans ni rien personne sauf faux nunca jamás ningún ninguna ninguno nada nadie sin tampoco falso",
    "non mai nessun nessuno nessuna senza não nem sem nenhum nenhuma niet geen nooit niets zonder",
  ].flatMap((words) => words.split(" ")),
)
const WORD = /\p{L}+(?:'\p{L}+)?/gu
const NUMBER = /\p{N}/u
const LETTER = /\p{L}/u
const OTHER_SCRIPT = /(?!\p{Script=Latin})\p{L}/u
/** A frequent small word of a supported language. */
const KNOWN_LANGUAGE =
  /(?<![\p{L}])(?:the|of|and|is|are|to|in|that|for|with|der|die|das|und|ist|ein|eine|von|zu|mit|auf|le|la|les|des|est|et|une|dans|el|los|las|que|es|una|con|por|del)(?![\p{L}])/u
const ENDS = /[.!?。！？…:;]["')]*\s*$/

export type Harm = "negation" | "number" | "unknown_language"

/**
 * Why this gap in a quote may distort it: without a negation or a number it may mean something else. In an unsupported
 * language only whole sentences may be left out, because they cannot negate the one before them. `before`: the passage
 * up to the gap; `gap`: the omitted text, both folded.
 */
export function harmOf(before: string, gap: string): Harm | undefined {
  for (const [word] of gap.matchAll(WORD)) if (isNegation(word)) return "negation"
  if (NUMBER.test(gap)) return "number"
  if (!LETTER.test(gap)) return undefined
  const isKnown = !OTHER_SCRIPT.test(gap) && KNOWN_LANGUAGE.test(`${before} ${gap}`)
  return isKnown || isWhole(before, gap) ? undefined : "unknown_language"
}

/** Also isn't, and n'est. */
const isNegation = (word: string) => NEGATIONS.has(word) || word.endsWith("n't") || word.startsWith("n'")

function isWhole(before: string, gap: string): boolean {
  // The full stop may be in the quote, or in the gap.
  const begins = ENDS.test(before.slice(-20)) || /^\s*[.!?。！？]/.test(gap)
  return begins && ENDS.test(gap.slice(-20))
}
