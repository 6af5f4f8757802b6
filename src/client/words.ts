/** Small things in words, the same in the page and in the terminal. */

/** `create_task` as a person would say it: `Create task`. */
export function humanName(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim()
  return words === "" ? name : capitalized(words)
}

export const capitalized = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1)

/** `420 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** How long something may take, as far as one can say: `less than 10 s`, `about 40 s`, `about 3 min`, `about 1 h 20 min`. */
export function aboutTime(seconds: number): string {
  if (seconds < 10) return "less than 10 s"
  if (seconds < 55) return `about ${Math.ceil(seconds / 10) * 10} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `about ${minutes} min`
  const [hours, rest] = [Math.floor(minutes / 60), Math.ceil((minutes % 60) / 10) * 10]
  if (rest === 60) return `about ${hours + 1} h`
  return rest === 0 ? `about ${hours} h` : `about ${hours} h ${rest} min`
}

/** `locale`: how its reader groups digits; a terminal has none. */
export const count = (number: number, one: string, many = `${one}s`, locale: string | undefined = "en"): string =>
  `${number.toLocaleString(locale)} ${number === 1 ? one : many}`

/** Dollars; a fraction of a cent still says something. */
export function dollars(cost: number): string {
  if (cost === 0) return "free"
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`
}
