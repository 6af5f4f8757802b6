import type { Conversation } from "./conversation.ts"

/**
 * What every model is told beside its instructions: the person's day and zone, and where the conversation works. Made of
 * what the journal says about the run, never of the clock: a replay asks the same, and a provider's prompt cache that was
 * filled by one request of a run serves the next. It changes with the day and not with the minute for the same reason.
 */
export function toldContext({ run, site, timeZone: last, at }: Conversation, fallback: string): string {
  const timeZone = run?.timeZone ?? last ?? fallback
  const { day, zone } = dayIn(timeZone, run?.startedAt ?? at)
  const place = site === "device" ? "on the person's own device" : "on the server"
  return `Today is ${day} for the person (time zone ${zone}). The tools of this conversation work ${place}.`
}

/** Instructions and context as one system text. */
export function withContext(instructions: string, context: string): string {
  return instructions === "" ? context : `${instructions}\n\n${context}`
}

const formats = new Map<string, Intl.DateTimeFormat>()
const MOST_FORMATS = 500

function dayIn(timeZone: string, at: number): { day: string; zone: string } {
  const format = formatFor(timeZone)
  // A journal may name a zone that only the machine which wrote it has rules for: no reason to fail the run.
  if (!format) return dayIn("UTC", at)
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const [year, month, date] = [parts.get("year"), parts.get("month"), parts.get("day")]
  return { day: `${parts.get("weekday")}, ${year}-${month}-${date}`, zone: timeZone }
}

function formatFor(timeZone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(timeZone)
  if (known) return known
  try {
    const options = { timeZone, weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" } as const
    const format = new Intl.DateTimeFormat("en-US", options)
    if (formats.size >= MOST_FORMATS) formats.clear()
    formats.set(timeZone, format)
    return format
  } catch {
    return undefined
  }
}
