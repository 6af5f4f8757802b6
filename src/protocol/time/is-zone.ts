/** Names of the IANA data base begin with a letter; offsets such as `+02:00` do not, and are no zone. */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

/** What was found to be a zone, because finding out takes longer than all else about a message. Bounded: case may vary. */
const known = new Set(["UTC"])
const MAX_KNOWN = 2000

/** Whether this is the name of a time zone that this machine has rules for. */
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
