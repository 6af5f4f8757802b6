import type { Readable } from "node:stream"
import { parse } from "csv-parse/sync"

const CANDIDATES = [",", ";", "\t", "|"]
const SAMPLE = 64 * 1024
const ROWS = 200

/** What parts the cells of a file: the sign that makes the most cells, in the same number in the most rows. */
export async function findDelimiter(text: Readable): Promise<string> {
  const sample = await beginningOf(text)
  let best = { delimiter: ",", score: 0 }
  for (const delimiter of CANDIDATES) {
    const score = scoreOf(sample, delimiter)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

async function beginningOf(text: Readable): Promise<string> {
  let sample = ""
  for await (const chunk of text) {
    sample += String(chunk)
    if (sample.length >= SAMPLE) break
  }
  const cut = sample.slice(0, SAMPLE)
  // The last row may be half a row, which looks as if it had too few cells.
  return sample.length > SAMPLE ? cut.slice(0, cut.lastIndexOf("\n") + 1) || cut : cut
}

function scoreOf(sample: string, delimiter: string): number {
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
    return 0
  }
  const width = rows[0]?.length ?? 0
  if (width < 2) return 0
  const alike = rows.filter((row) => row.length === width).length / rows.length
  // A file whose rows all agree on two cells is more likely right than one in which half agree on ten.
  return alike ** 3 * Math.log2(width + 1)
}
