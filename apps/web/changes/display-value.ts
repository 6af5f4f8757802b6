import { isDay } from "../../../core/protocol/index.ts"
import { humanName } from "../../../client/index.ts"
import { day, dayAndTime } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"

export type Fields = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

/** A value for people: lists and objects as text, never as JSON. */
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

/** Labels of the workspace's columns, as its pages use them. */
const LABELS: ReadonlyMap<string, Key> = new Map([
  ["assignee", "changes.fieldAssignee"],
  ["assignees", "changes.fieldAssignees"],
  ["author", "changes.fieldAuthor"],
  ["clientId", "changes.fieldClientId"],
  ["content", "changes.fieldContent"],
  ["createdAt", "changes.fieldCreatedAt"],
  ["date", "changes.fieldDate"],
  ["description", "changes.fieldDescription"],
  ["dueDate", "changes.fieldDueDate"],
  ["industry", "changes.fieldIndustry"],
  ["isAiSuggested", "changes.fieldIsAiSuggested"],
  ["isApproved", "changes.fieldIsApproved"],
  ["name", "changes.fieldName"],
  ["parentId", "changes.fieldParentId"],
  ["priority", "changes.fieldPriority"],
  ["projectId", "changes.fieldProjectId"],
  ["project", "changes.fieldProjectId"],
  ["client", "changes.fieldClientId"],
  ["task", "changes.fieldTaskId"],
  ["status", "changes.fieldStatus"],
  ["taskId", "changes.fieldTaskId"],
  ["title", "changes.fieldTitle"],
  ["updatedAt", "changes.fieldUpdatedAt"],
])

/** Labels of column values that are one of a few, by field and value. */
const VALUES: ReadonlyMap<string, Key> = new Map([
  ["status.todo", "changes.valueTodo"],
  ["status.in_progress", "changes.valueInProgress"],
  ["status.done", "changes.valueDone"],
  ["status.active", "changes.valueActive"],
  ["status.archived", "changes.valueArchived"],
  ["priority.high", "changes.valueHigh"],
  ["priority.medium", "changes.valueMedium"],
  ["priority.low", "changes.valueLow"],
])

/** The label of a field. Without one of its own, `dueAt` is shown as "Due at". */
export function labelOf(name: string): string {
  // A tool's argument is called `due_date`, the column `dueDate`.
  const column = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const label = LABELS.get(column)
  if (label) return t(label)
  const words = name.replace(/^is(?=[A-Z])/, "").replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  return humanName(words.toLowerCase()).replaceAll(/\b(ai|sql|url|id)\b/gi, (word) => word.toUpperCase())
}

/** Rows store flags as 0 and 1, and times as milliseconds: both are converted. Arguments are shown as they are sent. */
export function displayValue(name: string, value: unknown): unknown {
  const shown = typeof value === "string" ? VALUES.get(`${name}.${value}`) : undefined
  if (shown) return t(shown)
  if (/^is[A-Z]/.test(name) && (value === 0 || value === 1)) return value === 1
  if (/(^date|Date|At)$/.test(name) && typeof value === "number" && value > 1e11 && value < 1e14)
    return dayAndTime(value)
  if (/(^date|Date)$/.test(name) && isDay(value)) return day(`${value}T12:00`)
  return value
}

/** The most text that fits into a card. */
const MAX_CHARACTERS = 400
const MAX_LINES = 6

export const isLongText = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 1).length > MAX_LINES

/** Whether a value needs its own line in a narrow card. */
export const isWide = (text: string): boolean => text.length > 40 || text.includes("\n")
