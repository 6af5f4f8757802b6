/** Code in an answer: inline code and code blocks, with their backticks or tildes. */
export interface Code {
  readonly start: number
  readonly end: number
  /** How many backticks or tildes start it. */
  readonly ticks: number
  readonly isBlock: boolean
}

interface Ticks {
  readonly sign: string
  readonly at: number
  readonly count: number
  /** Alone on its line, except for the name of a language. */
  readonly isFence: boolean
  /** Inline code ends with its paragraph. */
  readonly paragraph: number
}

/** Code blocks, closed or not, and inline code, which ends with as many backticks as it started with. */
export function codeIn(text: string): Code[] {
  const all = ticksIn(text)
  const found: Code[] = []
  const unclosed = new Set<string>()
  for (let i = 0; i < all.length; i++) {
    const { sign, at, count, isFence, paragraph } = all[i]!
    const kind = `${paragraph} ${count}`
    // Searched once. Otherwise a text of only backticks would be read again from each of them.
    if (!isFence && unclosed.has(kind)) continue
    let last = i + 1
    const ends = (ticks: Ticks) => ticks.isFence && ticks.sign === sign && ticks.count >= count
    if (isFence) while (last < all.length && !ends(all[last]!)) last++
    else while (all[last]?.paragraph === paragraph && all[last]!.count !== count) last++
    const closing = all[last]
    const isClosed = closing !== undefined && (isFence || closing.paragraph === paragraph)
    if (!isClosed) unclosed.add(kind)
    if (!isClosed && !isFence) continue
    found.push({ start: at, end: isClosed ? closing.at + closing.count : text.length, ticks: count, isBlock: isFence })
    i = last
  }
  return found
}

function ticksIn(text: string): Ticks[] {
  let paragraph = 0
  const found: Ticks[] = []
  for (const { 0: run, index: at } of text.matchAll(/`+|~{3,}|\n[^\S\n]*\n/g)) {
    const sign = run[0] as string
    if (sign === "\n") paragraph++
    else found.push({ sign, at, count: run.length, isFence: run.length >= 3 && isFence(text, at), paragraph })
  }
  // Only backticks mark inline code.
  return found.filter((ticks) => ticks.isFence || ticks.sign === "`")
}

/** A code fence may be indented by at most this many characters. */
const MAX_BEFORE = 20

function isFence(text: string, at: number): boolean {
  // With a limit, because one long line would be read again for each of its runs of backticks.
  const before = text.slice(Math.max(0, at - MAX_BEFORE - 1), at)
  const line = before.lastIndexOf("\n") + 1
  if (before.length - line > MAX_BEFORE || !/^[\s>]*$/.test(before.slice(line))) return false
  return /^(?:`+[^`\n]{0,100}|~+[^\n]{0,100})(?:\n|$)/.test(text.slice(at, at + 200))
}

/** Code with up to this many words may be a name or a command and does not count as a sentence. */
const MAX_OF_NAMES = 4
const WORD = /^[("'“‘«[*]*\p{L}[\p{L}\p{M}\p{N}'’‑-]*(?:\/\p{L}+)?[)"'”’»\]*]*[.,;:!?…)]*$/u
/** Occurs in prose and in commands, so it does not count for either. */
const NEUTRAL = /^(?:[–—…&-]|\(?[\d.,]+%?\)?[.,;:)]*)$/
const COMMAND =
  /^(?:git|npm|npx|pnpm|yarn|pip3?|python3?|node|docker|kubectl|curl|wget|sudo|apt|apt-get|brew|cargo|conda|cd|ls|cat|echo|grep|find|ssh|scp|tar|chmod|mkdir|pawl)\s/
const STATEMENT =
  /^(?:SELECT|select)\s.*\s(?:FROM|from)\s|^(?:INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|WITH)\s|^(?:insert into|delete from|(?:create|alter|drop) (?:table|index|view))\s|^from\s\S+\simport\s|^import\s\S+\s(?:as|from)\s|^(?:for|foreach)\s\S+\sin\s.*\sdo\b|^(?:if\s.*\sthen|while\s.*\sdo)\b/
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu
const MAX_READ = 2000
/**
 * Starts like a sentence, also in scripts without capitals, ends like one, or has a small word that lists of names do
 * not have.
 */
const SENTENCE =
  /^\P{L}*(?:\p{Lo}|\p{Lu}[^]*\s\p{Ll})|[.!?…][\p{P}\s]*$|(?<!\S)(?:an?|the|this|that|these|it|they|we|is|are|was|were|be|been|has|have|had|can|cannot|may|will|does|do|did|not|never|always|all|any|every|by|of|to|in|on|at|with|from|for|as|than|which)(?!\S)/u

/** True if text formatted as code is mostly a sentence, which is then a quote. */
export function isProse(code: string): boolean {
  const text = code.slice(0, MAX_READ).trim()
  if ((text.match(UNSPACED)?.length ?? 0) > 2 * MAX_OF_NAMES) return true
  if (COMMAND.test(text) || STATEMENT.test(text)) return false
  const tokens = text.split(/\s+/).filter((token) => !NEUTRAL.test(token))
  const words = tokens.filter((token) => WORD.test(token))
  // A few identifiers in a sentence do not make it code.
  return words.length > MAX_OF_NAMES && words.length >= 0.8 * tokens.length && SENTENCE.test(text)
}
