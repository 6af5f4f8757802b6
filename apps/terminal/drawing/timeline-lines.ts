import type { TimelineEntry } from "../../../client/timeline/following.ts"
import type { RunTimeline } from "../../../client/timeline/timeline.ts"
import { describeTotals, formatUsage } from "../../../client/timeline/totals.ts"
import { duration } from "../../../client/format.ts"
import { printable } from "../printable.ts"
import { fit, widthOf } from "../wrap.ts"

const BETWEEN = " · "
/** A shorter beginning of a text says nothing. */
const MIN_TEXT = 8
const TIME = 13
const BAR = 16
/** A narrower screen has no room for bars. */
const MIN_WIDTH_FOR_BARS = 90

/** A run line by line: when each entry started, how long it took and what it was. */
export function timelineLines(timeline: RunTimeline, width: number): string[] {
  return [
    ...describeTotals(timeline.totals).flatMap((line) => packed(line.split(BETWEEN), width)),
    "",
    ...timeline.entries.flatMap((entry) => entryLines(entry, timeline, width)),
  ].map((line) => clipped(line, width))
}

/** Joins words into lines of the given width. */
function packed(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const longer = `${lines.at(-1)}${BETWEEN}${word}`
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Two texts side by side in columns of equal width. */
export function sideBySide(left: readonly string[], right: readonly string[], width: number): string[] {
  const half = Math.floor((width - 3) / 2)
  const cell = (line = "") => {
    const shown = clipped(line, half)
    return shown + " ".repeat(Math.max(0, half - widthOf(shown)))
  }
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    return `${cell(left[index])} │ ${clipped(right[index] ?? "", half)}`.trimEnd()
  })
}

function entryLines(entry: TimelineEntry, timeline: RunTimeline, width: number): string[] {
  const { at, ms, isOpen, title, detail, usage, position } = entry
  const took = ms === undefined ? "" : `${duration(ms)}${isOpen ? " …" : ""}`
  const start = `${String(position).padStart(5)}  ${`+${duration(at - timeline.startedAt)}`.padStart(TIME)}`
  const bar = width >= MIN_WIDTH_FOR_BARS ? `  ${barOf(entry, timeline)}` : ""
  const before = `${start}  ${took.padStart(TIME)}${bar}  `
  const indent = " ".repeat(widthOf(before))
  const used = usage ? formatUsage(usage) : ""
  return entryTextLines([title, detail ?? ""], used, width - indent.length).map(
    (line, at) => (at ? indent : before) + line,
  )
}

/**
 * Title, detail and usage. If they are too long, the longer of title and detail is cut, so that the outcome and the
 * usage stay visible; if too little of it would remain, the usage moves to a line below.
 */
function entryTextLines(words: readonly [title: string, detail: string], used: string, width: number): string[] {
  const [title, detail] = [printable(words[0]), printable(words[1])]
  const joined = (...parts: string[]) => parts.filter(Boolean).join(BETWEEN)
  const over = widthOf(joined(title, detail, used)) - width
  if (over <= 0) return [joined(title, detail, used)]
  const isTitle = widthOf(title) > widthOf(detail)
  const room = widthOf(isTitle ? title : detail) - over
  if (room >= MIN_TEXT)
    return [isTitle ? joined(clipped(title, room), detail, used) : joined(title, clipped(detail, room), used)]
  return used ? [...entryTextLines(words, "", width), used] : [joined(title, detail)]
}

/** When the entry happened within the run: the whole bar is the whole run. */
function barOf({ at, ms = 0 }: TimelineEntry, { startedAt, until }: RunTimeline): string {
  const all = Math.max(1, until - startedAt)
  const from = Math.min(BAR - 1, Math.floor(((at - startedAt) / all) * BAR))
  const length = Math.min(BAR - from, Math.round((ms / all) * BAR))
  return (" ".repeat(from) + (length > 0 ? "━".repeat(length) : "╸")).padEnd(BAR)
}

function clipped(line: string, width: number): string {
  const shown = printable(line)
  const { head, rest } = fit(shown, width)
  return rest === "" ? head.trimEnd() : `${fit(shown, width - 1).head}…`
}
