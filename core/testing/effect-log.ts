import { appendFileSync, existsSync, readFileSync } from "node:fs"

/** An effect of a tool call, as recorded by an `EffectLog`. */
export interface RecordedEffect {
  readonly callId: string
  /** A description, for example "paid invoice 2041". */
  readonly effect: string
}

/** Records the effects of tool calls, and reports a call that had its effect twice. Create it with `effectLog`. */
export class EffectLog {
  readonly #file: string | undefined
  readonly #recorded: RecordedEffect[] = []

  constructor(file?: string) {
    this.#file = file
  }

  /** Records an effect. Call it where the effect happens, so that it counts what was done and not what was tried. */
  record(callId: string, effect: string): void {
    if (this.#file === undefined) this.#recorded.push({ callId, effect })
    else appendFileSync(this.#file, `${JSON.stringify({ callId, effect })}\n`)
  }

  /** All effects so far, in order. */
  get effects(): readonly RecordedEffect[] {
    if (this.#file === undefined) return this.#recorded
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, "utf8").split("\n")
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedEffect)
  }

  /** Throws if a call had the same effect more than once, with a sentence that names it. */
  check(): void {
    const byCall = Map.groupBy(this.effects, ({ callId, effect }) => JSON.stringify([callId, effect]))
    const repeated = [...byCall.values()].filter(({ length }) => length > 1)
    if (repeated.length === 0) return
    const sentences = repeated.map((times) => `"${times[0]?.effect}" was done ${times.length} times for one tool call.`)
    throw new Error(`${sentences.join(" ")} ${ADVICE}`)
  }
}

const ADVICE =
  'A call that a crash interrupted ran again. Declare afterCrash: "in-doubt", or "ask-target" with an outcome that looks for the call id, or let the target ignore a call id that it knows.'

/**
 * Creates a log of effects, to test that each tool call has its effect at most once. With a file, it also counts effects
 * of processes that were killed.
 *
 * @example
 * const log = effectLog()
 * log.record("call_1", "paid invoice 2041")
 * log.check() // throws if a call had the same effect twice
 * console.log(log.effects.length) // 1
 */
export const effectLog = (file?: string): EffectLog => new EffectLog(file)
