import { describe, expect, test } from "vitest"
import { dateInWords } from "./date-words.ts"
import { readDate } from "./read-date.ts"
import { instantOf, startOfDay, wallTimeAt } from "../../../core/pack.ts"

/** Sunday, and half past six in the evening in Berlin. */
const NOW = Date.UTC(2026, 10, 15, 17, 30)
const berlin = { now: NOW, timeZone: "Europe/Berlin" }
const iso = async (said: string | number, here = berlin) => {
  const found = await readDate(said, here)
  return typeof found === "string" ? found : new Date(found).toISOString()
}

describe("a date in words, seen from Berlin on Sunday 15 November 2026", () => {
  test.each([
    ["today", "Sunday 15 November 2026"],
    ["tomorrow", "Monday 16 November 2026"],
    ["day after tomorrow", "Tuesday 17 November 2026"],
    ["yesterday", "Saturday 14 November 2026"],
    ["Friday", "Friday 20 November 2026"],
    ["by Friday", "Friday 20 November 2026"],
    ["next friday", "Friday 20 November 2026"],
    ["last monday", "Monday 9 November 2026"],
    ["in 3 days", "Wednesday 18 November 2026"],
    ["in  2 weeks", "Sunday 29 November 2026"],
    ["20 November", "Friday 20 November 2026"],
    ["November 10", "Wednesday 10 November 2027"],
    ["Nov 20 2026 at 5:30pm", "Friday 20 November 2026 at 17:30"],
    ["tomorrow at 5pm", "Monday 16 November 2026 at 17:00"],
    ["5pm", "Monday 16 November 2026 at 17:00"],
    ["tomorrow morning", "Monday 16 November 2026 at 06:00"],
    ["tomorrow at noon", "Monday 16 November 2026 at 12:00"],
    ["tonight", "Sunday 15 November 2026 at 22:00"],
    ["in 3 hours", "Sunday 15 November 2026 at 21:30"],
    ["now", "Sunday 15 November 2026 at 18:30"],
    ["end of month", "Monday 30 November 2026"],
    ["the end of next month", "Thursday 31 December 2026"],
    ["start of next month", "Tuesday 1 December 2026"],
    ["end of the week", "Sunday 15 November 2026"],
    ["start of next week", "Monday 16 November 2026"],
    ["end of next week", "Sunday 22 November 2026"],
    ["end of the quarter", "Thursday 31 December 2026"],
    ["start of next quarter", "Friday 1 January 2027"],
    ["end of year", "Thursday 31 December 2026"],
    ["beginning of this year", "Thursday 1 January 2026"],
    ["29 Feb 2028", "Tuesday 29 February 2028"],
  ])("%j is %s", async (said, words) => {
    expect(dateInWords(await readDate(said, berlin), berlin.timeZone)).toBe(words)
  })

  test.each([
    ...["30 February", "February 30", "29 February 2027", "31 November", "2027-02-29", "2027-02-30", "2027-13-01"],
    ...["2027-01-31T25:00", "2027-01-31T24:00", "saturday at 25:00", "tomorrow at 13pm"],
    ...["sometime", "", "  ", "soon", "tomorrow or friday", "monday to friday", "not tomorrow", "tomorrow, I think"],
    ...["10/11/2026", "10.11.2026", "2027", "in 999999999 years", "20 nov 0026", "x".repeat(5000)],
    ...[`tomorrow${" ".repeat(200)}at nothing`, "'; DROP TABLE tasks; --"],
  ])("%.30j is not a date, and the error shows examples", async (said) => {
    await expect(readDate(said, berlin)).rejects.toThrow(/is not a date\. Dates look like 2027-01-31, .*tomorrow/)
  })
})

describe("a numeric date", () => {
  test.each<[string | number, string]>([
    ["2027-01-31", "2027-01-31"],
    ["2027-01-31T00:00:00", "2027-01-31"],
    ["2027-01-31T00:00:01", "2027-01-30T23:00:01.000Z"],
    ["2027-01-31T00:00:00Z", "2027-01-31T00:00:00.000Z"],
    ["2027-01-31T17:00", "2027-01-31T16:00:00.000Z"],
    ["2027-01-31 17:00", "2027-01-31T16:00:00.000Z"],
    ["2027-07-31T17:00:05.250", "2027-07-31T15:00:05.250Z"],
    ["2027-01-31T17:00:00Z", "2027-01-31T17:00:00.000Z"],
    ["2027-01-31t17:00z", "2027-01-31T17:00:00.000Z"],
    ["2027-01-31T17:00+02:00", "2027-01-31T15:00:00.000Z"],
    [1_800_000_000_000, "2027-01-15T08:00:00.000Z"],
    ["1800000000000", "2027-01-15T08:00:00.000Z"],
    ["2028-02-29", "2028-02-29"],
    ["0026-01-01T00:00Z", "0026-01-01T00:00:00.000Z"],
  ])("%j is %s: a day without a time, and a time without a zone is the person's", async (said, expected) => {
    expect(await iso(said)).toBe(expected)
  })
})

describe("the wall-clock time of a zone", () => {
  const wall = (year: number, month: number, day: number, time = "00:00") => {
    const [hour = 0, minute = 0] = time.split(":").map(Number)
    return { year, month, day, hour, minute, second: 0 }
  }
  test.each([
    ["in winter", "Europe/Berlin", wall(2027, 1, 31, "17:00"), "2027-01-31T16:00:00.000Z"],
    ["in summer", "Europe/Berlin", wall(2027, 7, 31, "17:00"), "2027-07-31T15:00:00.000Z"],
    [
      "left out: later by the hour that is missing",
      "Europe/Berlin",
      wall(2027, 3, 28, "2:30"),
      "2027-03-28T01:30:00.000Z",
    ],
    ["shown twice: the first time", "Europe/Berlin", wall(2026, 10, 25, "2:30"), "2026-10-25T00:30:00.000Z"],
    ["left out in New York", "America/New_York", wall(2026, 3, 8, "2:30"), "2026-03-08T07:30:00.000Z"],
    ["a midnight that is left out", "Africa/Cairo", wall(2026, 4, 24), "2026-04-23T22:00:00.000Z"],
    ["a midnight that comes twice", "America/Havana", wall(2026, 11, 1), "2026-11-01T04:00:00.000Z"],
    ["a whole day that is left out", "Pacific/Apia", wall(2011, 12, 30), "2011-12-30T10:00:00.000Z"],
    ["a change of half an hour", "Australia/Lord_Howe", wall(2026, 10, 4, "2:15"), "2026-10-03T15:45:00.000Z"],
    ["the first to see a day", "Pacific/Kiritimati", wall(2027, 1, 1), "2026-12-31T10:00:00.000Z"],
    ["the last", "Etc/GMT+12", wall(2027, 1, 1), "2027-01-01T12:00:00.000Z"],
    ["three quarters of an hour", "Asia/Kathmandu", wall(2027, 1, 1), "2026-12-31T18:15:00.000Z"],
  ])("%s (%s)", (_, zone, time, expected) => {
    expect(new Date(instantOf(time, zone)).toISOString()).toBe(expected)
  })

  test("wall-clock times of two years convert back to the same instant, except the second of two equal ones", () => {
    for (const zone of ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Chatham", "UTC"]) {
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2028, 0, 1); at += 3_600_000 * 29) {
        const found = instantOf(wallTimeAt(at, zone), zone)
        if (found !== at) expect(wallTimeAt(found, zone)).toEqual(wallTimeAt(at, zone))
        expect(found).toBeLessThanOrEqual(at)
      }
    }
  })

  test.each([
    ["Pacific/Kiritimati", "2026-12-31T10:30:00Z", "Friday 1 January 2027", "Saturday 2 January 2027"],
    ["Etc/GMT+12", "2027-01-01T11:59:00Z", "Thursday 31 December 2026", "Friday 1 January 2027"],
    ["Europe/Berlin", "2026-12-31T23:30:00Z", "Friday 1 January 2027", "Saturday 2 January 2027"],
  ])("today and tomorrow in %s at %s", async (timeZone, now, today, tomorrow) => {
    const here = { now: Date.parse(now), timeZone }
    expect(dateInWords(await readDate("today", here), timeZone)).toBe(today)
    expect(dateInWords(await readDate("tomorrow", here), timeZone)).toBe(tomorrow)
  })

  test("a day may have 23 or 25 hours, and a duration in hours does not depend on that", async () => {
    const hours = (now: string) => {
      const at = Date.parse(now)
      return (startOfDay(at, "Europe/Berlin", 1) - startOfDay(at, "Europe/Berlin")) / 3_600_000
    }
    expect([hours("2027-03-28T12:00Z"), hours("2026-10-25T12:00Z"), hours("2026-11-15T12:00Z")]).toEqual([23, 25, 24])
    // Half past midnight, an hour and a half before clocks are put forward.
    const before = { now: Date.parse("2027-03-27T23:30Z"), timeZone: "Europe/Berlin" }
    expect(await iso("in 3 hours", before)).toBe("2027-03-28T02:30:00.000Z")
    expect(await iso("tomorrow at 5pm", before)).toBe("2027-03-29T15:00:00.000Z")
  })
})
