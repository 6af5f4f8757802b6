import type { Alphabet } from "./alphabet.ts"
import type { Pattern } from "./parse-pattern.ts"

/** What must hold of the letters before and behind a place. */
interface Guard {
  readonly before: bigint
  readonly behind: bigint
  /** For a \b, whose sides depend on each other. */
  readonly word?: "edge" | "inside"
  /** What is looked at here is more than one letter, and may fail. */
  readonly isUnsure?: boolean
}

interface State {
  readonly free: { readonly to: number; readonly guard?: Guard }[]
  takes?: { readonly set: bigint; readonly to: number }
}

/** Where one letter more may lead: a state that takes one, and which letters. */
export interface Way {
  readonly to: number
  readonly letters: bigint
}

export interface Ways {
  readonly ways: readonly Way[]
  /** There is a match here, whatever follows. */
  readonly isDone: boolean
  /** There is one if the text ends here. */
  readonly isDoneAtEnd: boolean
}

/** Beyond this a bound is as good as none; below it, a few rounds say what all of them would. */
const BOUND = 1000
const ROUNDS = 3
const MAX_PATHS = 20_000

/** A pattern as a machine that takes letters, with a loop before it that passes over any: the search for a place to begin. */
export class Automaton {
  readonly #states: State[] = []
  readonly #alphabet: Alphabet
  readonly #isMultiline: boolean
  readonly #end: number
  readonly #known = new Map<string, Ways>()
  readonly #begin: number
  /** It looks back further than any bound. */
  looksBack = false

  constructor(pattern: Pattern, alphabet: Alphabet, flags: string) {
    this.#alphabet = alphabet
    this.#isMultiline = flags.includes("m")
    this.#end = this.#add()
    const start = this.#build(pattern, this.#end)
    const search = this.#add()
    // A sticky one is tried where it is told to, and nowhere else.
    this.#begin = this.#free(flags.includes("y") ? [start] : [search, start])
    this.#states[search]!.takes = { set: alphabet.everything & ~alphabet.edge, to: this.#begin }
  }

  /** Where it may go with the first letter of a text. */
  first(): readonly Way[] {
    return this.#ways(this.#begin, this.#alphabet.edge).ways
  }

  letters(state: number): bigint {
    return this.#states[state]?.takes?.set ?? 0n
  }

  /** Where it may go on after a state has taken a letter. */
  after(state: number, letter: number): Ways {
    const key = `${state} ${letter}`
    const known = this.#known.get(key)
    if (known) return known
    const ways = this.#ways(this.#states[state]!.takes!.to, 1n << BigInt(letter))
    this.#known.set(key, ways)
    return ways
  }

  #ways(from: number, before: bigint): Ways {
    const { everything, edge, words } = this.#alphabet
    const ways: Way[] = []
    let [isDone, isDoneAtEnd, paths] = [false, false, 0]
    const onPath = new Set<number>()
    const visit = (at: number, behind: bigint, isSure: boolean): void => {
      if (behind === 0n || onPath.has(at) || paths++ > MAX_PATHS) return
      const { free, takes } = this.#states[at]!
      if (takes && (takes.set & behind) !== 0n) ways.push({ to: at, letters: takes.set & behind })
      if (at === this.#end && isSure) {
        isDone ||= behind === everything
        isDoneAtEnd ||= (behind & edge) !== 0n
      }
      onPath.add(at)
      for (const { to, guard } of free) {
        if (!guard) visit(to, behind, isSure)
        else if ((guard.before & before) !== 0n) {
          const isWord = (before & words) !== 0n
          const side =
            guard.word === undefined ? everything : isWord === (guard.word === "inside") ? words : everything & ~words
          visit(to, behind & guard.behind & side, isSure && !guard.isUnsure)
        }
      }
      onPath.delete(at)
    }
    visit(from, everything, true)
    return { ways, isDone, isDoneAtEnd }
  }

  #add(): number {
    return this.#states.push({ free: [] }) - 1
  }

  #free(to: readonly number[]): number {
    const state = this.#add()
    for (const each of to) this.#states[state]!.free.push({ to: each })
    return state
  }

  /** The state where a pattern begins that goes on to another. */
  #build(pattern: Pattern, to: number): number {
    switch (pattern.type) {
      case "set": {
        const state = this.#add()
        this.#states[state]!.takes = { set: this.#alphabet.of(pattern.source), to }
        return state
      }
      case "all":
        return pattern.of.reduceRight((next, each) => this.#build(each, next), to)
      case "either":
        return this.#free(pattern.of.map((each) => this.#build(each, to)))
      case "repeat":
        return this.#repeat(pattern, to)
      case "edge":
        return this.#guarded(this.#edge(pattern.sign), to)
      case "look":
        return this.#look(pattern, to)
      case "again":
        // As long as what it repeats, which its own group has taken already.
        return this.#guarded({ ...this.#anything(), isUnsure: true }, to)
    }
  }

  #repeat({ of, min, max }: Extract<Pattern, { type: "repeat" }>, to: number): number {
    let next = to
    const least = Math.min(min, ROUNDS)
    if (max > BOUND) {
      const loop = this.#add()
      const body = this.#build(of, loop)
      this.#states[loop]!.free.push({ to: body }, { to: next })
      // The last round that must be is the loop's own.
      next = min === 0 ? this.#free([body, next]) : body
      for (let round = 1; round < least; round++) next = this.#build(of, next)
      return next
    }
    for (let round = least; round < Math.min(max, Math.max(ROUNDS, least)); round++)
      next = this.#free([this.#build(of, next), to])
    for (let round = 0; round < least; round++) next = this.#build(of, next)
    return next
  }

  #look({ of, behind, negative }: Extract<Pattern, { type: "look" }>, to: number): number {
    const anything = this.#anything()
    if (of.type === "set") {
      const set = this.#alphabet.of(of.source)
      const allowed = negative ? this.#alphabet.everything & ~set : set
      return this.#guarded(behind ? { ...anything, before: allowed } : { ...anything, behind: allowed }, to)
    }
    if (of.type === "all" && of.of.length === 0) return negative ? this.#add() : to
    const on = this.#guarded({ ...anything, isUnsure: true }, to)
    if (behind) this.looksBack ||= isEndless(of)
    // What is looked at is gone through, and leads nowhere.
    return behind ? on : this.#free([this.#build(of, this.#add()), on])
  }

  #guarded(guard: Guard, to: number): number {
    const state = this.#add()
    this.#states[state]!.free.push({ to, guard })
    return state
  }

  #anything(): Guard {
    return { before: this.#alphabet.everything, behind: this.#alphabet.everything }
  }

  #edge(sign: "^" | "$" | "\\b" | "\\B"): Guard {
    const { edge, lineEnds } = this.#alphabet
    const here = this.#isMultiline ? edge | lineEnds : edge
    if (sign === "^") return { ...this.#anything(), before: here }
    if (sign === "$") return { ...this.#anything(), behind: here }
    return { ...this.#anything(), word: sign === "\\b" ? "edge" : "inside" }
  }
}

function isEndless(pattern: Pattern): boolean {
  if (pattern.type === "set" || pattern.type === "edge" || pattern.type === "again") return false
  if (pattern.type === "repeat" && pattern.max > BOUND) return true
  return Array.isArray(pattern.of) ? pattern.of.some(isEndless) : isEndless(pattern.of as Pattern)
}
