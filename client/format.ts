/** Formats names, durations and amounts, for the page and the terminal. */
import { DEFAULT_GRANT_USES, type Grant, type Proposal } from "../core/protocol/proposals/proposal.ts"

/** Formats a tool's name for display: `create_task` becomes `Create task`. */
export function humanName(name: string): string {
  const text = name.replaceAll(/[_-]+/g, " ").trim()
  return text === "" ? name : capitalized(text)
}

/**
 * Describes what choosing "always" on an approval covers, to end a sentence that starts with "approves" or "without
 * asking".
 */
export function describeAlways({ tool, commandLine }: Pick<Proposal, "tool" | "commandLine">): string {
  const next = `the next ${DEFAULT_GRANT_USES}`
  if (commandLine !== undefined) return `just this command line, ${next} times in this conversation`
  return `${next} calls of “${humanName(tool)}” in this conversation that change no more than this one`
}

/** Describes what a grant (an approval in advance) covers. */
export const grantName = ({ tool, commandLine, prefix }: Pick<Grant, "tool" | "commandLine" | "prefix">): string =>
  prefix ?? commandLine ?? humanName(tool)

/** Returns the text with its first letter in upper case. */
export const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Formats a duration: `420 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/**
 * Formats the time left for a decision: `7 days left`, `36 hours left`, `14 min left`, `90 s left`, `expired`. Each
 * unit is rounded down, except that a new proposal shows its full number.
 */
export function formatTimeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds <= 0) return "expired"
  if (seconds < 120) return `${seconds} s left`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${Math.floor(seconds / 60)} min left`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${Math.floor(minutes / 60)} hours left` : `${Math.floor(hours / 24)} days left`
}

/** Formats an estimate: `less than 10 s`, `about 40 s`, `about 3 min`, `about 1 h 20 min`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 10) return "less than 10 s"
  if (seconds < 55) return `about ${Math.ceil(seconds / 10) * 10} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `about ${minutes} min`
  const [hours, remaining] = [Math.floor(minutes / 60), Math.ceil((minutes % 60) / 10) * 10]
  if (remaining === 60) return `about ${hours + 1} h`
  return remaining === 0 ? `about ${hours} h` : `about ${hours} h ${remaining} min`
}

/** Formats a number with its noun. `locale` selects the digit grouping; the terminal uses the default. */
export const count = (number: number, one: string, many = `${one}s`, locale: string | undefined = "en"): string =>
  `${number.toLocaleString(locale)} ${number === 1 ? one : many}`

/** Formats US dollars. Amounts under a cent keep two significant digits. */
export function dollars(cost: number): string {
  if (cost === 0) return "free"
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`
}
