import { z } from "zod"

const MAX_KNOWN = 2000

/**
 * A cache of valid zones, because checking one takes longer than the rest of a message. Limited, because upper and
 * lower case may vary.
 */
const known = new Set(["UTC"])

/** IANA names start with a letter. Offsets such as `+02:00` do not, and are rejected. */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

/** An IANA time zone, such as `Europe/Berlin`. */
export const TimeZone = z.custom<string>(isTimeZone, "expected an IANA time zone such as Europe/Berlin")

/**
 * Returns the zone of this machine, for users whose zone is unknown. UTC, the zone of most servers, is detected without
 * `Intl`, because its first use loads the rules of all languages and zones: a tenth of the start-up time.
 */
export function hostZone(): string {
  const isUtc = new Date().toString().endsWith("(Coordinated Universal Time)")
  return isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Returns true for the name of a time zone that this machine knows. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== "string" || !NAME.test(name)) return false
  if (known.has(name)) return true
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name })
  } catch {
    return false
  }
  if (known.size < MAX_KNOWN) known.add(name)
  return true
}
