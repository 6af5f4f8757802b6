/** The colours and fonts of the page, as defaults for a chart. */
export function toTheme(dark: boolean): object {
  const [paper, ink, soft, line] = dark
    ? ["#1f2120", "#eceae5", "#bab6ad", "#343734"]
    : ["#ffffff", "#1d1c1a", "#56524b", "#e5e1da"]
  const accent = dark ? "#7cc4b0" : "#1f5f52"
  const guide = { labelColor: soft, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 600 }
  return {
    background: paper,
    font: FONT,
    padding: 8,
    // Grouped by thousands, without trailing zeros.
    numberFormat: ",~f",
    view: { stroke: "transparent" },
    title: { color: ink, subtitleColor: soft, fontSize: 14, fontWeight: 600, anchor: "start" },
    axis: { ...guide, gridColor: line, domainColor: soft, tickColor: soft },
    legend: guide,
    header: { labelColor: soft, titleColor: ink },
    mark: { color: accent },
    text: { color: ink },
    rule: { color: soft },
    range: { category: dark ? DARK : LIGHT },
  }
}

const FONT = '-apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif'
const LIGHT = [
  "#1f5f52",
  "#c0632b",
  "#3b6fb0",
  "#8a5aa8",
  "#a3302a",
  "#6d7a1f",
  "#2b8a9c",
  "#9c6b1f",
  "#5b5f97",
  "#7a4a3a",
]
const DARK = [
  "#7cc4b0",
  "#f0a56b",
  "#8db8ee",
  "#c9a3e3",
  "#f2968b",
  "#c2cf6f",
  "#7fd0de",
  "#e4b862",
  "#a9adea",
  "#d3a493",
]

/** The number and month formats of the language for d3, from the browser's `Intl`. */
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
      // The first group has a variable length; the others define the group length, from the right.
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
