/**
 * The zone of this machine, for whoever has not said theirs. Most servers are on UTC, which a date says by itself: the first
 * use of `Intl` reads the rules of all languages and zones, a tenth of a start.
 */
export function hostZone(): string {
  const isUtc = new Date().toString().endsWith("(Coordinated Universal Time)")
  return isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone
}
