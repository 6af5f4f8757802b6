/**
 * A read of which only one is under way at a time. Who asks meanwhile shares the next one: the answer that is on its way
 * may be older than what they know.
 */
export function inTurn(read: () => Promise<void>): () => Promise<void> {
  let now: Promise<void> | undefined
  let next: Promise<void> | undefined
  const ask = (): Promise<void> => {
    if (!now) return (now = read().finally(() => (now = undefined)))
    const again = () => {
      next = undefined
      return ask()
    }
    return (next ??= now.then(again, again))
  }
  return ask
}
