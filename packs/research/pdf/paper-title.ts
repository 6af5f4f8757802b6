import { isPlausibleTitle } from "../passages/plausible-about.ts"
import type { PageLine } from "./page-lines.ts"

/** Lines of the first page that are searched for the title. */
const MAX_LINES = 40
const LARGER = 1.2
const MAX_CHARACTERS = 300

/** The title of a paper by its layout: the largest text at the top of the first page, larger than most of it. */
export function paperTitle(lines: readonly PageLine[]): string | undefined {
  const sizes = lines.map(({ size }) => size).sort((a, b) => a - b)
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 0
  const some = lines.slice(0, MAX_LINES)
  const largest = some.reduce((most, { size, text }) => (isWords(text) ? Math.max(most, size) : most), 0)
  if (largest < LARGER * usual) return undefined
  const first = some.findIndex(({ size, text }) => size >= 0.98 * largest && isWords(text))
  const rest = some.slice(first)
  const end = rest.findIndex(({ size }) => size < 0.98 * largest)
  const title = rest
    .slice(0, end === -1 ? undefined : end)
    .map(({ text }) => text)
    .join(" ")
    .replaceAll(/\s+/g, " ")
  return title.length <= MAX_CHARACTERS && isPlausibleTitle(title) ? title : undefined
}

/** False for a single large initial, or a number. */
const isWords = (text: string) => (text.match(/\p{L}/gu)?.length ?? 0) >= 3
