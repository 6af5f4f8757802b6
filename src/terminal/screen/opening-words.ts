const LONG_SECONDS = 5

/** A server that is away is waited for; whoever does not want to wait learns how to leave. */
export function openingWords(ms: number): string[] {
  const seconds = Math.floor(ms / 1000)
  return seconds < LONG_SECONDS ? ["opening …"] : [`opening … ${seconds} s`, "Ctrl-C twice leaves"]
}
