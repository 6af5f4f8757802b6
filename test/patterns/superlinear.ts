import { Alphabet } from "./alphabet.ts"
import { Automaton } from "./automaton.ts"
import { parsePattern } from "./parse-pattern.ts"

/** More is not looked for: what cannot be told is taken for slow. */
const MAX_STEPS = 3_000_000

/**
 * Why the time of a regular expression grows faster than the text it is looked for in; undefined where it does not.
 *
 * An engine that goes back tries every way through a pattern before it gives up. There are more ways than letters where, with
 * one and the same repeated word, it may stay in one loop, stay in a later one, or go over from the first to the second (the
 * square of the text, or worse), or go round one loop in two ways (two to the power of it). The search for a beginning is such
 * a first loop. Both are looked for here, in products of the pattern's automaton with itself.
 */
export function superlinear(source: string, flags: string): string | undefined {
  const pattern = parsePattern(source, flags)
  const alphabet = new Alphabet(pattern, flags)
  const automaton = new Automaton(pattern, alphabet, flags)
  if (automaton.looksBack) return "it looks back without a bound"
  const graph = new Graph(automaton, alphabet.letters.length)
  try {
    return graph.fault()
  } catch (error) {
    if (error instanceof RangeError) return error.message
    throw error
  }
}

/** A state that has just taken a letter, as one number; edges lead to what may take the next one. */
class Graph {
  readonly #letters: number
  readonly #edges = new Map<number, Map<number, number>>()
  readonly #loopOf = new Map<number, number>()
  /** Where something has been found. */
  readonly #done = new Set<number>()
  #steps = 0

  constructor(automaton: Automaton, letters: number) {
    this.#letters = letters
    const open: number[] = []
    const meet = (state: number, allowed: bigint, edges?: Map<number, number>) => {
      for (let letter = 0; letter < letters; letter++) {
        if ((allowed & (1n << BigInt(letter))) === 0n) continue
        const node = state * letters + letter
        edges?.set(node, (edges.get(node) ?? 0) + 1)
        if (this.#edges.has(node)) continue
        this.#edges.set(node, new Map())
        open.push(node)
      }
    }
    for (const way of automaton.first()) meet(way.to, way.letters)
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const [state, letter] = [Math.floor(node / letters), node % letters]
      const { ways, isDone, isDoneAtEnd } = automaton.after(state, letter)
      const all = (1n << BigInt(letters)) - 1n
      const takesAll = ways.length === 1 && ways[0]!.to === state && ways[0]!.letters === all
      // Whoever comes here has found something, and looks no further.
      if (isDone) this.#done.add(node)
      if (isDone || (isDoneAtEnd && takesAll)) continue
      for (const way of ways) meet(way.to, way.letters, this.#edges.get(node))
    }
    this.#findLoops()
  }

  fault(): string | undefined {
    const loops = [...Map.groupBy(this.#loopOf.keys(), (node) => this.#loopOf.get(node)).values()]
    for (const loop of loops) {
      if (loop.some((node) => this.#goesRoundInTwoWays(node)))
        return "one of its loops can be gone round in two ways: its time is two to the power of a text"
    }
    for (const first of loops) {
      for (const second of loops) {
        if (first !== second && this.#canGoOver(first, second))
          return "it begins again and again what it has gone through: its time grows with the square of a text"
      }
    }
    return undefined
  }

  #next(node: number): Map<number, number> {
    if (++this.#steps > MAX_STEPS) throw new RangeError("it is too much to be judged")
    return this.#edges.get(node) ?? new Map()
  }

  /** Two walks with the same letters, from here and back to here, that part on the way. */
  #goesRoundInTwoWays(from: number): boolean {
    const loop = this.#loopOf.get(from)
    const seen = new Set<string>()
    const open: [number, number, boolean][] = [[from, from, false]]
    for (let pair = open.pop(); pair; pair = open.pop()) {
      const [one, other, hasParted] = pair
      const others = this.#next(other)
      for (const [a, times] of this.#next(one)) {
        if (this.#loopOf.get(a) !== loop) continue
        for (const b of others.keys()) {
          if (b % this.#letters !== a % this.#letters || this.#loopOf.get(b) !== loop) continue
          const parted = hasParted || a !== b || times > 1
          if (parted && a === from && b === from) return true
          const key = `${a} ${b} ${parted}`
          if (seen.has(key)) continue
          seen.add(key)
          open.push([a, b, parted])
        }
      }
    }
    return false
  }

  /** A word with which one stays in the first loop, another stays in the second, and a third goes over. */
  #canGoOver(first: readonly number[], second: readonly number[]): boolean {
    const [inFirst, inSecond] = [this.#loopOf.get(first[0]!), this.#loopOf.get(second[0]!)]
    if (!this.#leadsTo(first[0]!, inSecond!)) return false
    return first.some((p) =>
      second.some((q) => q % this.#letters === p % this.#letters && this.#goesOver(p, q, inFirst, inSecond)),
    )
  }

  #goesOver(p: number, q: number, inFirst: number | undefined, inSecond: number | undefined): boolean {
    const seen = new Set<string>()
    const open: [number, number, number][] = [[p, p, q]]
    for (let walk = open.pop(); walk; walk = open.pop()) {
      const [stays, goes, waits] = walk
      for (const a of this.#next(stays).keys()) {
        if (this.#loopOf.get(a) !== inFirst) continue
        const waiting = this.#next(waits)
        for (const c of waiting.keys()) {
          if (c % this.#letters !== a % this.#letters || this.#loopOf.get(c) !== inSecond) continue
          // With this letter something could be found as well, so the walk is not in vain: it is a match.
          if (waiting.keys().some((other) => other % this.#letters === c % this.#letters && this.#done.has(other)))
            continue
          for (const b of this.#next(goes).keys()) {
            if (b % this.#letters !== a % this.#letters) continue
            if (a === p && b === q && c === q) return true
            const key = `${a} ${b} ${c}`
            if (seen.has(key)) continue
            seen.add(key)
            open.push([a, b, c])
          }
        }
      }
    }
    return false
  }

  #leadsTo(from: number, loop: number): boolean {
    const seen = new Set([from])
    const open = [from]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const next of this.#next(node).keys()) {
        if (this.#loopOf.get(next) === loop) return true
        if (!seen.has(next)) open.push(next)
        seen.add(next)
      }
    }
    return false
  }

  /** Strongly connected parts, after Tarjan, without recursion; those without an edge inside are no loops. */
  #findLoops(): void {
    const [index, low] = [new Map<number, number>(), new Map<number, number>()]
    const [stack, onStack] = [[] as number[], new Set<number>()]
    for (const root of this.#edges.keys()) {
      if (index.has(root)) continue
      const walk: { node: number; next: Iterator<number> }[] = []
      const enter = (node: number) => {
        index.set(node, index.size)
        low.set(node, index.get(node)!)
        stack.push(node)
        onStack.add(node)
        walk.push({ node, next: this.#edges.get(node)!.keys() })
      }
      enter(root)
      for (let top = walk.at(-1); top; top = walk.at(-1)) {
        const { node, next } = top
        const { value, done } = next.next()
        if (!done) {
          if (!index.has(value)) enter(value)
          else if (onStack.has(value)) low.set(node, Math.min(low.get(node)!, index.get(value)!))
          continue
        }
        walk.pop()
        const above = walk.at(-1)
        if (above) low.set(above.node, Math.min(low.get(above.node)!, low.get(node)!))
        if (low.get(node) !== index.get(node)) continue
        const part = stack.splice(stack.lastIndexOf(node))
        for (const each of part) onStack.delete(each)
        if (part.length > 1 || this.#edges.get(node)!.has(node)) for (const each of part) this.#loopOf.set(each, node)
      }
    }
  }
}
