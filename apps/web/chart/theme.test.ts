import { expect, test } from "vitest"
import { toLocale } from "./theme.ts"

test("numbers and months are the reader's", () => {
  expect(toLocale("en-US")).toMatchObject({ number: { decimal: ".", thousands: ",", grouping: [3, 3] } })
  expect(toLocale("de-DE").number).toMatchObject({ decimal: ",", thousands: "." })
  expect(toLocale("en-IN").number).toMatchObject({ grouping: [3, 2] })
  const { months, shortDays } = toLocale("de-DE").time as { months: string[]; shortDays: string[] }
  expect([months.length, months[2], shortDays.length, shortDays[0]]).toEqual([12, "März", 7, "So"])
})
