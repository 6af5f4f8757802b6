import type { ShownMessage, Transcript } from "./transcript.ts"

/** `Thought for 12 s`; a model of which nobody saw how long it took has only thought. */
export function thoughtWords(ms: number | undefined): string {
  return ms === undefined ? "Thought" : `Thought for ${seconds(ms)}`
}

/** `Thinking 12 s`, while it does. */
export const thinkingWords = (ms: number): string => `Thinking ${seconds(ms)}`

/** Whole ones: tenths would only flicker. */
function seconds(ms: number): string {
  const whole = Math.max(1, Math.round(ms / 1000))
  if (whole < 60) return `${whole} s`
  return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** The last line of what is thought, for a line that shows that something goes on. */
export function lastThought(text: string): string {
  const end = text.trimEnd()
  // As much of it as a line may need: it is looked at with every delta, however long it has become.
  const tail = end.slice(-TAIL)
  return tail.slice(tail.lastIndexOf("\n") + 1).trim()
}

const TAIL = 400

/** What was thought last, as far as it is here: for the open reply, or before the newest message for which there is something. */
export function lastReasoning({ thinking, items }: Transcript): LastReasoning | undefined {
  if (thinking) return { text: thinking.text, ms: thinking.ms }
  const found = items.findLast((item) => item.type === "message" && item.message.reasoning !== undefined)
  if (found?.type !== "message" || !found.message.reasoning) return undefined
  const { text, ms } = found.message.reasoning
  return { text, ...(ms === undefined ? {} : { ms }), message: found.message }
}

export interface LastReasoning {
  readonly text: string
  readonly ms?: number
  /** Before which it was thought; none while it is being written. */
  readonly message?: ShownMessage
}
