import { isDay } from "../../../core/protocol/index.ts"
import { humanName } from "../../../client/index.ts"
import { day, dayAndTime } from "../strings/format.ts"
import { t } from "../strings/strings.ts"

export type Fields = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

/** A value as a person reads it: lists and objects in words, never as JSON. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no")
  if (value === null || value === undefined) return t("common.empty")
  if (Array.isArray(value)) return value.map(toText).join(value.some(isRecord) ? "\n" : ", ")
  if (!isRecord(value)) return String(value)
  return Object.entries(value)
    .map(([name, each]) => `${labelOf(name)}: ${toText(each)}`)
    .join(", ")
}

/** `isAiSuggested` is read as "AI suggested", to which the value says yes or no. */
export function labelOf(name: string): string {
  const words = name.replace(/^is(?=[A-Z])/, "").replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  return humanName(words.toLowerCase()).replaceAll(/\b(ai|sql|url|id)\b/gi, (word) => word.toUpperCase())
}

/** Rows hold marks as 0 and 1, and times as milliseconds: nobody reads those. What is sent is shown as it is sent. */
export function inWords(name: string, value: unknown): unknown {
  if (/^is[A-Z]/.test(name) && (value === 0 || value === 1)) return value === 1
  if (/(^date|Date|At)$/.test(name) && typeof value === "number" && value > 1e11 && value < 1e14)
    return dayAndTime(value)
  if (/(^date|Date)$/.test(name) && isDay(value)) return day(`${value}T12:00`)
  return value
}

/** What fits into a card without being cut. */
const MAX_CHARACTERS = 400
const MAX_LINES = 6

export const isLongText = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 1).length > MAX_LINES

/** Whether a value is better read below its name than beside it where there is little room. */
export const isWide = (text: string): boolean => text.length > 40 || text.includes("\n")
