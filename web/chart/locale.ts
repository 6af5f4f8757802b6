/** How the reader writes numbers and names months, as d3 wants to be told; of the browser, which tells its workers too. */
export function toLocale(language: string): { readonly number: object; readonly time: object } {
  const parts = new Intl.NumberFormat(language, { numberingSystem: "latn" }).formatToParts(-1234567.5)
  const sign = (type: string, fallback: string) => parts.find((part) => part.type === type)?.value ?? fallback
  const integers = parts.filter(({ type }) => type === "integer").map(({ value }) => value.length)
  const names = (options: Intl.DateTimeFormatOptions, dates: readonly Date[]) =>
    dates.map((date) => new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(date))
  const months = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2023, month, 1)))
  const days = Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2023, 0, 1 + day))) // a Sunday first
  return {
    number: {
      decimal: sign("decimal", "."),
      thousands: sign("group", ","),
      // The first group is as long as it happens to be; the others say how long groups are, from the right.
      grouping: integers.length > 1 ? integers.slice(1).reverse() : [3],
      currency: ["", ""],
      minus: sign("minusSign", "-"),
    },
    time: {
      ...{ dateTime: "%x, %X", date: "%Y-%m-%d", time: "%H:%M:%S", periods: ["AM", "PM"] },
      months: names({ month: "long" }, months),
      shortMonths: names({ month: "short" }, months),
      days: names({ weekday: "long" }, days),
      shortDays: names({ weekday: "short" }, days),
    },
  }
}
