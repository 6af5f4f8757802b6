import type { Readable } from "node:stream"
import { parse } from "csv-parse/sync"

const CANDIDATES = [",", ";", "\t", "|"]
const SAMPLE = 64 * 1024
const ROWS = 200

const SIGNS = { comma: ",", semicolon: ";", tab: "\t", bar: "|" } as const

interface Delimiter {
  readonly delimiter: string
  /** The number of lines at the start that are not rows. */
  readonly skips: number
}

/**
 * Finds the delimiter of a file: the one of its first line (`sep=;`), otherwise the character that creates the most
 * cells, in the same number in the most rows.
 */
export async function findDelimiter(text: Readable, chosen?: keyof typeof SIGNS): Promise<Delimiter> {
  const sample = await beginningOf(text)
  const [, told] = /^\uFEFF?"?sep=([^"\r\n])"?[\r\n]/i.exec(sample) ?? []
  const skips = told === undefined ? 0 : 1
  if (chosen) return { delimiter: SIGNS[chosen], skips }
  return { delimiter: told ?? likeliest(sample), skips }
}

function likeliest(sample: string): string {
  const scored = CANDIDATES.map((delimiter) => ({ delimiter, ...scoreOf(sample, delimiter) }))
  const [best] = scored.toSorted(byScore)
  // Numbers and texts contain commas, but seldom another delimiter in the same number in each row.
  const [other] = scored.filter(({ delimiter, alike }) => delimiter !== "," && alike === 1).toSorted(byScore)
  return (other ?? best)?.delimiter ?? ","
}

const byScore = (a: { score: number }, b: { score: number }) => b.score - a.score

async function beginningOf(text: Readable): Promise<string> {
  let sample = ""
  for await (const chunk of text) {
    sample += String(chunk)
    if (sample.length >= SAMPLE) break
  }
  const cut = sample.slice(0, SAMPLE)
  // The last row of the sample may be incomplete, and would seem to have too few cells.
  return sample.length > SAMPLE ? cut.slice(0, cut.lastIndexOf("\n") + 1) || cut : cut
}

const NONE = { score: 0, alike: 0 }

function scoreOf(sample: string, delimiter: string): { score: number; alike: number } {
  let rows: string[][]
  try {
    rows = parse(sample, {
      delimiter,
      bom: true,
      to: ROWS,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
    })
  } catch {
    return NONE
  }
  const width = rows[0]?.length ?? 0
  if (width < 2) return NONE
  const alike = rows.filter((row) => row.length === width).length / rows.length
  // Two cells in every row are a better sign than ten cells in half of the rows.
  return { alike, score: alike ** 3 * Math.log2(width + 1) }
}
