import { z } from "zod"

/** How models write a moment: a day, or a time with or without its zone. */
const MOMENT = /^(?<day>\d{4}-\d\d-\d\d)(?<time>T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/
/** The widest span that a Date can hold. */
const LATEST = 8_640_000_000_000_000

/** A due date as a call gives it. Checked by us and not by a pattern in the schema, which would be sent with every request. */
export const DueDate = z.union([
  z.string().refine((text) => readMoment(text) !== undefined, {
    message: "expected a date like 2027-01-31 or a time like 2027-01-31T17:00:00Z",
  }),
  z.number().int().min(-LATEST).max(LATEST),
])

/** The same in milliseconds; without a zone it is UTC. */
export function toMilliseconds(due: z.infer<typeof DueDate>): number | null {
  return typeof due === "number" ? due : (readMoment(due) ?? null)
}

function readMoment(text: string): number | undefined {
  const { day, time = "T00:00", zone = "Z" } = MOMENT.exec(text.trim())?.groups ?? {}
  // Date.parse takes the 31st of February for the 3rd of March.
  if (!day || !z.iso.date().safeParse(day).success) return undefined
  const milliseconds = Date.parse(`${day}${time}${zone}`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
