import { isYear, type Quantity, quantitiesIn, SHARE_OF, type Token, readTokens, toPlainUnits } from "./quantities.ts"
import {
  antonymsIn,
  comparatorAt,
  deniedBy,
  hasStemOf,
  isNegating,
  isOpposite,
  isQuantifier,
  isStopWord,
  MAX_WORDS_BEFORE_THAN,
  sidesWithObjects,
  stem,
} from "./vocabulary.ts"

/** How a sentence differs from the passage that it cites. */
export type ContradictionKind = "negation" | "swapped" | "unit" | "number" | "year"

export interface ClaimDifference {
  readonly kind: ContradictionKind
  /** The sentence of the passage that differs. */
  readonly passage: string
}

/** A passage, parsed once for all sentences that cite it. */
export type ReadPassage = readonly ReadSentence[]

/** The parts of passages and sentences that are compared. */
export const MAX_PASSAGE = 20_000
const MAX_SENTENCE = 1_000
/** The share of a sentence's words that a sentence of the passage must have to be about the same subject. */
const [ABOUT_THE_SAME, NEARLY_THE_SAME] = [0.5, 0.6]
const LEAST_SHARED = 2
/** Smaller counts are checked only here, because such a number is in almost any passage. */
const SMALL = 12
/** How much of a denial is compared. */
const MAX_DENIED = 20
/**
 * Longer pieces are clauses even with few words, because reading a growing piece again at each comma would take
 * quadratic time.
 */
const MAX_SHORT_CLAUSE = 200
/** How many words after a comparison may contain its other side. */
const MAX_COMPARED_WORDS = 60
const SENTENCE_END = /[.!?。！？]["'”’)\]]*\s+(?=[\p{Lu}\p{N}"“([])|\n+/gu
const CLAUSE_END =
  /[,;:()–—]\s|\s(?=(?:but|although|though|while|whereas|however|because|which|who|and|than|versus|vs|compared)\s)/giu

interface Clause {
  readonly stems: ReadonlySet<string>
  /** The words that its first negation denies. */
  readonly denied: readonly string[]
  /** Words with a denying prefix or ending, such as "harmless", with the word that they deny. */
  readonly denials: readonly { readonly word: string; readonly bare: string }[]
  readonly negations: number
  readonly antonyms: ReadonlySet<string>
}

interface ReadSentence {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly stems: ReadonlySet<string>
  readonly quantities: readonly Quantity[]
  readonly years: ReadonlySet<number>
  readonly clauses: readonly Clause[]
  /** Words of pairs of opposites with their objects: see `sidesWithObjects`. */
  readonly sides: ReadonlySet<string>
}

export function readPassage(text: string): ReadPassage {
  return sentencesOf(text.slice(0, MAX_PASSAGE)).map(readSentence)
}

/**
 * How a sentence contradicts the passages that it cites, or undefined. It compares words without understanding them,
 * and reports a difference only if a sentence of the passage is about the same subject.
 */
export function findContradiction(sentence: string, passages: readonly ReadPassage[]): ClaimDifference | undefined {
  const claim = readSentence(sentence.slice(0, MAX_SENTENCE))
  const all = passages.flat()
  if (claim.stems.size < LEAST_SHARED || all.length === 0) return undefined
  const found =
    differentYear(claim, all) ??
    differentUnit(claim, all) ??
    differentNumber(claim, all) ??
    swappedSides(claim, all) ??
    swappedFigures(claim, all) ??
    differentNegation(claim, all)
  return found && { kind: found.kind, passage: found.passage.trim().slice(0, MAX_SENTENCE).toWellFormed() }
}

const report = (kind: ContradictionKind, { text }: ReadSentence): ClaimDifference => ({ kind, passage: text })

function sentencesOf(text: string): string[] {
  const found: string[] = []
  let from = 0
  for (const { 0: stop, index } of text.matchAll(SENTENCE_END)) {
    found.push(text.slice(from, index + 1))
    from = index + stop.length
  }
  found.push(text.slice(from))
  return found.filter((each) => each.trim() !== "")
}

function readSentence(text: string): ReadSentence {
  const plain = toPlainUnits(text)
  const tokens = readTokens(plain)
  const quantities = quantitiesIn(tokens)
  // "1850s" is not a year.
  const inYears = tokens.filter(
    ({ text: token, at }) => isYear(token) && !/^['’]?s\b/.test(plain.slice(at + token.length)),
  )
  const years = new Set(inYears.map(({ text: token }) => Number(token)))
  const sides = sidesWithObjects(tokens.map(({ text: token }) => token))
  return { text, tokens, stems: stemsOf(tokens), quantities, years, clauses: clausesOf(plain), sides }
}

function stemsOf(tokens: readonly Token[]): Set<string> {
  const words = tokens.map(({ text }) => text.toLowerCase())
  const stems = words.filter((word) => /^\p{L}/u.test(word) && !isStopWord(word) && !isNegating(word)).map(stem)
  // Drug A, Group B: a letter that names one of several.
  const labels = tokens.slice(1).flatMap(({ text }) => (/^[A-HJ-Z]$/.test(text) ? [`=${text}`] : []))
  return new Set([...stems, ...labels])
}

/** Clauses with fewer meaningful words belong to the one before them. */
function clausesOf(text: string): Clause[] {
  const pieces: string[] = []
  let from = 0
  for (const { 0: stop, index } of text.matchAll(CLAUSE_END)) {
    const piece = text.slice(from, index)
    const isShort = piece.length <= MAX_SHORT_CLAUSE && stemsOf(readTokens(piece)).size < LEAST_SHARED
    if (!isShort) {
      pieces.push(piece)
      from = index + (stop.trim() === "" ? 0 : stop.length)
    }
  }
  const last = text.slice(from)
  const ofLast = readTokens(last)
  const isShort = pieces.length > 0 && stemsOf(ofLast).size < LEAST_SHARED
  // "…, though there were no accidents" denies the accidents and nothing before them.
  const deniesItself = ofLast.some((token) => isNegating(token.text.toLowerCase()))
  if (!isShort) pieces.push(last)
  else if (!deniesItself && !/^\s*(?:but|although|though|whereas|however)\b/i.test(last))
    pieces.push(`${pieces.pop()} ${last}`)
  return pieces.map((piece) => {
    const tokens = readTokens(piece)
    const words = tokens.map((token) => token.text.toLowerCase())
    const negations = words.filter(isNegating).length
    const stems = stemsOf(tokens)
    const denials = [...stems].flatMap((word) => {
      const bare = deniedBy(word)
      return bare === undefined ? [] : [{ word, bare }]
    })
    return {
      ...{ stems, negations, antonyms: antonymsIn(words) },
      ...{ denied: deniedIn(tokens).slice(0, MAX_DENIED), denials: denials.slice(0, MAX_DENIED) },
    }
  })
}

/** The share of the claim's words that the other one has; 0 if they share too few. */
function overlap(claim: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const each of claim) if (other.has(each)) shared++
  return shared < LEAST_SHARED ? 0 : shared / claim.size
}

const nearest = (claim: ReadSentence, all: readonly ReadSentence[], least: number) =>
  all
    .map((sentence) => ({ sentence, shared: overlap(claim.stems, sentence.stems) }))
    .filter(({ shared }) => shared >= least)
    .sort((one, other) => other.shared - one.shared)
    .map(({ sentence }) => sentence)

/** The word after a negation, or all words after "none of the …". */
function deniedIn(tokens: readonly Token[]): string[] {
  const at = tokens.findIndex(({ text }) => isNegating(text.toLowerCase()))
  if (at < 0) return []
  const rest = [...stemsOf(tokens.slice(at + 1))]
  return isQuantifier(tokens[at]!.text.toLowerCase()) ? rest : rest.slice(0, 1)
}

/** True if each clause contains what the other denies. Otherwise they are about different subjects. */
function hasDenied(one: Clause, other: Clause): boolean {
  const missing = (clause: Clause, from: Clause) => clause.denied.filter((word) => !from.stems.has(word)).length
  return missing(one, other) === 0 && missing(other, one) === 0
}

function differentYear(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  const strange = [...claim.years].filter((year) => !all.some(({ years }) => years.has(year)))
  const same = nearest(claim, all, ABOUT_THE_SAME).find(({ years }) => years.size > 0)
  return strange.length > 0 && same ? report("year", same) : undefined
}

/** The same number has another unit. */
function differentUnit(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  for (const quantity of claim.quantities) {
    if (quantity.unit === "") continue
    const measured = all.flatMap((sentence) => sentence.quantities.map((each) => ({ ...each, sentence })))
    if (measured.some((each) => each.dimension === quantity.dimension && isAbout(each.base, quantity.base))) continue
    const other = measured.find(
      (each) => each.value === quantity.value && each.unit !== "" && each.unit !== quantity.unit,
    )
    if (other && overlap(claim.stems, other.sentence.stems) > 0) return report("unit", other.sentence)
  }
  return undefined
}

const isAbout = (one: number, other: number) => Math.abs(one - other) <= 0.02 * Math.max(Math.abs(one), Math.abs(other))

/** A small number, or one in words. Larger ones in digits are searched for in the whole source. */
function differentNumber(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  const same = nearest(claim, all, ABOUT_THE_SAME)
  for (const { value, noun, unit, dimension, base, isWord } of claim.quantities) {
    if ((value > SMALL && !isWord) || (value < 2 && unit === "")) continue
    const counted = same.flatMap((sentence) => sentence.quantities.map((each) => ({ ...each, sentence })))
    const ofSame = counted.filter((each) =>
      unit === "" ? noun !== "" && each.noun === noun : each.dimension === dimension,
    )
    // "Half of them" may mean 48 %.
    const isNear = (each: Quantity) =>
      isAbout(each.base, base) || (unit === SHARE_OF && Math.abs(each.base - base) <= 5)
    if (ofSame.some(isNear)) continue
    const [first] = ofSame
    if (first && !isDerived(value, first.sentence)) return report("number", first.sentence)
    const isSomewhere = all.some(({ quantities }) => quantities.some((each) => each.value === value))
    const [numbered] = same.filter(({ quantities }) => quantities.some((each) => each.unit === unit))
    if (numbered && isWord && !noun.startsWith("of them") && !isSomewhere && !isDerived(value, numbered))
      return report("number", numbered)
  }
  return undefined
}

/** The sum, the difference or the ratio of two numbers of the passage's sentence. */
function isDerived(value: number, { quantities }: ReadSentence): boolean {
  const values = quantities.slice(0, SMALL).map((each) => each.value)
  return values.some((one, index) =>
    values
      .slice(index + 1)
      .some(
        (other) =>
          Math.abs(one - other) === value ||
          one + other === value ||
          isAbout(one, value * other) ||
          isAbout(other, value * one),
      ),
  )
}

/** `A is faster than B` for a passage with `B is faster than A`. */
function swappedSides(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  const ours = sidesOf(claim)
  if (!ours) return undefined
  for (const sentence of nearest(claim, all, ABOUT_THE_SAME)) {
    const theirs = sidesOf(sentence)
    if (!theirs) continue
    if (meets(ours.after, theirs.after)) {
      if (isOpposed(ours, theirs) && compared(claim).every((word) => sentence.stems.has(word)))
        return report("negation", sentence)
      continue
    }
    const isSwapped = meets(ours.after, theirs.before) && meets(theirs.after, ours.before)
    if (isSwapped) return ours.direction === theirs.direction ? report("swapped", sentence) : undefined
  }
  return undefined
}

const isDegree = (word: string) => antonymsIn([word]).size > 0

type Comparison = NonNullable<ReturnType<typeof sidesOf>>

/** `A has less than B` and `A has more than B`: the same two sides, and the opposite word. */
function isOpposed(one: Comparison, other: Comparison): boolean {
  const withoutDegrees = (stems: ReadonlySet<string>) => new Set([...stems].filter((each) => !isDegree(each)))
  const isCrossed = meets(withoutDegrees(one.before), other.after) || meets(one.after, withoutDegrees(other.before))
  const isOpposing = isOpposite(one.degree, other.degree) && one.negations === other.negations
  return isOpposing && !isCrossed && meets(one.before, other.before)
}

/** The words of what is compared: those before `than` that are neither a degree nor filler. */
function compared({ tokens }: ReadSentence): string[] {
  const than = tokens.findIndex(({ text }) => text.toLowerCase() === "than")
  const near = tokens.slice(Math.max(0, than - MAX_WORDS_BEFORE_THAN), Math.max(0, than))
  return [...stemsOf(near.filter(({ text }) => !isDegree(text.toLowerCase())))]
}

const meets = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].some((each) => other.has(each))

/** The two sides of a comparison, without words that both have. */
function sidesOf({ tokens }: ReadSentence) {
  const words = tokens.map(({ text }) => text.toLowerCase())
  const found = words.findIndex((word, at) => comparatorAt(words, at) !== undefined)
  const comparator = found < 0 ? undefined : comparatorAt(words, found)
  if (!comparator) return undefined
  const before = stemsOf(tokens.slice(0, found))
  const behind = tokens.slice(comparator.end, comparator.end + MAX_COMPARED_WORDS)
  const first = stemsOf(
    behind.slice(0, behind.findIndex((_, at) => stemsOf(behind.slice(0, at)).size >= 2) + 1 || behind.length),
  )
  const both = new Set([...before].filter((each) => first.has(each)))
  const without = (stems: ReadonlySet<string>) => new Set([...stems].filter((each) => !both.has(each)))
  const [left, right] = [without(before), without(first)]
  const { direction, isPassive } = comparator
  const degree = antonymsIn([comparator.degree])
  const sides = isPassive ? { before: right, after: left } : { before: left, after: right }
  return { ...sides, direction, degree, negations: words.filter(isNegating).length }
}

/** `12% with the drug and 20% without` for a passage with the opposite. */
function swappedFigures(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  for (const sentence of nearest(claim, all, ABOUT_THE_SAME)) {
    const [ours, theirs] = [ownersOf(claim, sentence), ownersOf(sentence, claim)]
    const values = [...ours.keys()].filter((value) => theirs.has(value))
    for (const [index, one] of values.entries())
      for (const other of values.slice(index + 1)) {
        const [ownOne, ownOther] = [onlyIn(ours, one, other), onlyIn(ours, other, one)]
        const [theirOne, theirOther] = [onlyIn(theirs, one, other), onlyIn(theirs, other, one)]
        // Words after both numbers are often written after only one, so words in the same position prove nothing.
        if (meets(ownOne, theirOther) && meets(ownOther, theirOne)) return report("swapped", sentence)
      }
  }
  return undefined
}

const onlyIn = (owners: ReadonlyMap<number, ReadonlySet<string>>, one: number, other: number) =>
  new Set([...(owners.get(one) ?? [])].filter((each) => !owners.get(other)?.has(each)))

/** The words of each number's clause, by value: of numbers that both sentences have, in their most frequent unit. */
function ownersOf({ text, quantities }: ReadSentence, other: ReadSentence): Map<number, ReadonlySet<string>> {
  const owners = new Map<number, ReadonlySet<string>>()
  if (/\b(?:respectively|beziehungsweise|jeweils)\b/i.test(text)) return owners
  const shared = quantities.filter(({ value, unit }) =>
    other.quantities.some((each) => each.value === value && each.unit === unit),
  )
  const units = Map.groupBy(shared, ({ unit }) => unit)
  const most = [...units.values()].sort((one, two) => two.length - one.length)[0] ?? []
  if (most.length < 2) return owners
  const known = new Set(most.map(({ value }) => value))
  let pending = new Set<string>()
  let last: Set<string> | undefined
  for (const piece of piecesOf(text)) {
    const tokens = readTokens(piece)
    const stems = stemsOf(tokens)
    const own = quantitiesIn(tokens).find(({ value }) => known.has(value))
    if (own) {
      last = new Set([...pending, ...stems])
      owners.set(own.value, last)
      pending = new Set()
    } else if (!last || /^\s*(?:and\s+|while\s+|but\s+)?(?:in|for|with|among|under|of)\s/i.test(piece))
      pending = new Set([...pending, ...stems])
    else for (const each of stems) last.add(each)
  }
  return owners
}

const piecesOf = (text: string) =>
  text.split(/[,;:–—]\s|\s(?=(?:and|but|while|whereas|than|versus|vs|compared|against)\s)/i)

/** One of the two has a negation or the opposite word. Two of them cancel each other out. */
function differentNegation(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  const isCompared = sidesOf(claim) !== undefined
  const theirs = all.flatMap((sentence) => sentence.clauses.map((clause) => ({ sentence, clause })))
  for (const own of claim.clauses) {
    const ranked = theirs
      .map(({ sentence, clause }) => ({ sentence, clause, shared: overlap(own.stems, clause.stems) }))
      .filter(({ shared }) => shared >= NEARLY_THE_SAME)
      .sort((one, other) => other.shared - one.shared)
    const best = ranked.filter(({ shared }) => shared >= (ranked[0]?.shared ?? 0) - 0.15)
    const differs = ({ clause, sentence }: (typeof best)[number]) => {
      const opposite = isCompared && sidesOf(sentence) ? false : isOpposite(own.antonyms, clause.antonyms)
      const turns = own.negations + clause.negations + denialsOf(own, clause) + denialsOf(clause, own)
      return (turns + (opposite ? 1 : 0)) % 2 === 1 && (opposite || hasDenied(own, clause))
    }
    const [first] = best
    if (first && best.every(differs)) return report("negation", first.sentence)
  }
  return isCompared ? undefined : oppositeVerb(claim, all)
}

/** Words of one clause that deny a word of the other by a prefix or an ending. */
const denialsOf = (one: Clause, other: Clause): number =>
  one.denials.filter(({ word, bare }) => !other.stems.has(word) && hasStemOf(bare, other.stems)).length

/** `increases swelling` for a passage with `reduces swelling`, whatever is between it and its subject. */
function oppositeVerb(claim: ReadSentence, all: readonly ReadSentence[]): ClaimDifference | undefined {
  if (claim.clauses.some(({ negations }) => negations > 0)) return undefined
  const says = (side: string) => all.some(({ sides }) => sides.has(side))
  for (const each of claim.sides) {
    const opposite = each.replace(/^(\d+)([+-])/, (_, pair: string, side: string) => pair + (side === "+" ? "-" : "+"))
    if (says(each) || !says(opposite)) continue
    const same = nearest(claim, all, ABOUT_THE_SAME).find(
      ({ sides, clauses }) => sides.has(opposite) && clauses.every(({ negations }) => negations === 0),
    )
    if (same) return report("negation", same)
  }
  return undefined
}
