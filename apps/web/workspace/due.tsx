import { type DayOrMoment, isDay } from "../../../core/protocol/index.ts"
import { Calendar } from "../components/icons.tsx"
import { Labelled } from "../components/form.tsx"
import { clock } from "../strings/format.ts"
import { locale } from "../strings/language.ts"
import { type Key, rich, t } from "../strings/strings.ts"

/** Due dates: days without a time zone, and moments in the local time zone. */

const DAY = 24 * 60 * 60 * 1000

const CLOSE: ReadonlyMap<number, Key> = new Map([
  [-1, "workspace.yesterday"],
  [0, "workspace.today"],
  [1, "workspace.tomorrow"],
])

const startOfDay = (instant: number): number => new Date(instant).setHours(0, 0, 0, 0)

/** The instant at which a due date starts: for a day its local midnight. */
export const startOf = (due: DayOrMoment): number =>
  typeof due === "number" ? due : startOfDay(new Date(`${due}T12:00`).getTime()) // noon exists on every day, also when clocks change

/** `today`, `tomorrow at 17:00`, `Fri 20 Nov`, `3 Jan 2028`. */
export function formatDue(due: DayOrMoment, now: number): string {
  const instant = startOf(due)
  const date = new Date(instant)
  // By calendar days: a day on which clocks change has 23 hours.
  const days = Math.round((startOfDay(instant) - startOfDay(now)) / DAY)
  const close = CLOSE.get(days)
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  const day =
    close === undefined
      ? date.toLocaleDateString(locale(), {
          ...{ day: "numeric", month: "short" },
          ...(isThisYear ? { weekday: "short" } : { year: "numeric" }),
        })
      : t(close)
  return isWholeDay(due) ? day : t("workspace.dueAt", { day, time: clock(instant) })
}

/** A day is overdue once it has passed, a moment once it is reached. */
export const isOverdue = (due: DayOrMoment, now: number): boolean =>
  isWholeDay(due) ? startOf(due) < startOfDay(now) : startOf(due) < now

/** A midnight counts too: older versions stored a day as its midnight. */
const isWholeDay = (due: DayOrMoment): boolean => typeof due === "string" || startOfDay(due) === due

const two = (figure: number) => String(figure).padStart(2, "0")

/** The value of a date input, which has no time zone. */
export const toDayField = (due: DayOrMoment | null): string => {
  if (due === null || typeof due === "string") return due ?? ""
  const date = new Date(due)
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export const toTimeField = (due: DayOrMoment | null): string => {
  if (due === null || typeof due === "string" || isWholeDay(due)) return ""
  const date = new Date(due)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The due date of a date input and a time input. Null without a day. */
export function fromFields(day: string, time: string): DayOrMoment | null {
  if (!isDay(day)) return null
  return time === "" ? day : new Date(`${day}T${time}`).getTime() // parsed in the local time zone
}

export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

interface DueSignProps {
  readonly dueDate: DayOrMoment | null
  readonly isDone: boolean
}

export function DueBadge({ dueDate, isDone }: DueSignProps) {
  if (dueDate === null) return null
  const isLate = !isDone && isOverdue(dueDate, Date.now())
  const due = formatDue(dueDate, Date.now())
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${isLate ? "text-danger" : ""}`}>
      <Calendar className="size-3.5" aria-hidden="true" />
      {isLate ? rich("workspace.overdue", { due, hidden: (inner) => <span className="sr-only">{inner}</span> }) : due}
    </span>
  )
}

interface DueFieldProps {
  readonly label: string
  readonly value: DayOrMoment | null
  readonly onChange: (value: DayOrMoment | null) => void
}

/** A day and an optional time, in the local time zone. */
export function DueField({ label, value, onChange }: DueFieldProps) {
  const [day, time] = [toDayField(value), toTimeField(value)]
  return (
    <div className="grid grid-cols-2 gap-3">
      <Labelled label={label}>
        <input
          type="date"
          max="9999-12-31"
          value={day}
          onChange={(event) => onChange(fromFields(event.target.value, time))}
          className="field h-9"
        />
      </Labelled>
      <Labelled label={t("workspace.dueTime", { zone: zoneName() })}>
        <input
          type="time"
          value={time}
          disabled={value === null}
          onChange={(event) => onChange(fromFields(day, event.target.value))}
          className="field h-9 disabled:opacity-45"
        />
      </Labelled>
    </div>
  )
}
