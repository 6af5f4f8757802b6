import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { dueInWords, fromFields, isOverdue, toDayField, toTimeField } from "./due.ts"

beforeAll(() => void vi.stubEnv("TZ", "America/New_York"))
afterAll(() => void vi.unstubAllEnvs())

test("a day is the start of that day where the person is, also on the days when clocks are turned", () => {
  for (const [day, instant] of [
    ["2027-01-31", "2027-01-31T05:00:00Z"],
    ["2027-03-14", "2027-03-14T05:00:00Z"],
    ["2027-03-15", "2027-03-15T04:00:00Z"],
  ] as const) {
    expect(fromFields(day, "")).toBe(Date.parse(instant))
    expect([toDayField(Date.parse(instant)), toTimeField(Date.parse(instant))]).toEqual([day, ""])
  }
  const afternoon = fromFields("2027-01-31", "17:30")
  expect(afternoon).toBe(Date.parse("2027-01-31T22:30:00Z"))
  expect([toDayField(afternoon), toTimeField(afternoon)]).toEqual(["2027-01-31", "17:30"])
  expect(fromFields("", "17:30")).toBeNull()
})

test("days are counted by the calendar, not by hours", () => {
  const now = fromFields("2027-03-13", "23:30") as number
  expect(dueInWords(fromFields("2027-03-13", "") as number, now)).toBe("today")
  expect(dueInWords(fromFields("2027-03-14", "") as number, now)).toBe("tomorrow")
  expect(dueInWords(fromFields("2027-03-12", "") as number, now)).toBe("yesterday")
  expect(dueInWords(fromFields("2027-03-15", "") as number, now)).toMatch(/15/)
})

test("what is due today is not late before tomorrow; what is due at a time is late after it", () => {
  const now = fromFields("2027-03-13", "12:00") as number
  expect(isOverdue(fromFields("2027-03-13", "") as number, now)).toBe(false)
  expect(isOverdue(fromFields("2027-03-12", "") as number, now)).toBe(true)
  expect(isOverdue(fromFields("2027-03-13", "11:00") as number, now)).toBe(true)
})
