import { count } from "../../client/words.ts"
import { DIM, type Line, line } from "../line.ts"

/** The end of what does not fit, under a line that says so. */
export function tailLines(lines: readonly Line[], rows: number): Line[] {
  if (lines.length <= rows) return [...lines]
  if (rows <= 1) return []
  return [line(`… ${count(lines.length - rows + 1, "line")} above`, DIM), ...lines.slice(lines.length - rows + 1)]
}
