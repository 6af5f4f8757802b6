/** By signal: who wants to hear that it aborts. A signal of the platform's keeps its own listeners too, at ten times the price. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when a signal aborts, which it must not have done yet; what is returned takes that back. A signal is listened
 * to once, whoever asks: a run asks for each call of a model or a tool, and is hardly ever stopped.
 */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  const acts = waiting.get(signal) ?? listenTo(signal)
  acts.add(act)
  return () => void acts.delete(act)
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>()
  const tell = () => {
    for (const act of acts) {
      acts.delete(act)
      act()
    }
  }
  signal.addEventListener("abort", tell, { once: true })
  waiting.set(signal, acts)
  return acts
}
