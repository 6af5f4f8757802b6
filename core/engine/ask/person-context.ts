import { isTimeZone } from "../../shared/time/zone.ts"
import type { Conversation } from "../conversation.ts"

/**
 * Adds the user's date and time zone, and where the conversation works. It depends only on the journal and never on the
 * clock: a replay sends the same request, and requests of one run share a provider's prompt cache. For the same reason
 * it has the date and not the time.
 */
export function withPersonContext(instructions: string, conversation: Conversation, fallback: string): string {
  const { run, site, at } = conversation
  const zone = zoneOf(conversation, fallback)
  const place = site === "device" ? "on the person's own device" : "on the server"
  const day = dayIn(zone, run?.startedAt ?? at)
  const context = `Today is ${day} for the person (time zone ${zone}). The tools of this conversation work ${place}.`
  return instructions === "" ? context : `${instructions}\n\n${context}`
}

/** The user's time zone. `fallback`: the server's zone, for journals that do not contain one. */
export function zoneOf({ run, timeZone }: Conversation, fallback: string): string {
  const zone = run?.timeZone ?? timeZone ?? fallback
  // The zone may be one that only another machine knows. That must not fail the run.
  return isTimeZone(zone) ? zone : "UTC"
}

/** Days begin at a quarter of an hour in every time zone, so within one the date is the same and computed once. */
const QUARTER_MS = 15 * 60_000
const days = new Map<string, { readonly format: Format; quarter: number; day: string }>()
const MAX_ZONES = 500

function dayIn(timeZone: string, at: number): string {
  const quarter = Math.floor(at / QUARTER_MS)
  const known = days.get(timeZone)
  if (known?.quarter === quarter) return known.day
  const format = known?.format ?? (timeZone === "UTC" ? formatUtc : formatIn(timeZone))
  const day = format(at)
  if (days.size >= MAX_ZONES) days.clear()
  days.set(timeZone, { format, quarter, day })
  return day
}

type Format = (at: number) => string

function formatIn(timeZone: string): Format {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, ...FIGURES })
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
    return `${parts.get("weekday")}, ${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`
  }
}

/** Without `Intl`, whose first use takes a tenth of the start-up time. Most servers use UTC. */
const formatUtc: Format = (at) => `${WEEKDAYS[new Date(at).getUTCDay()]}, ${new Date(at).toISOString().slice(0, 10)}`
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

const FIGURES = { weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" } as const
