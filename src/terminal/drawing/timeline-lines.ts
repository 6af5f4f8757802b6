import type { TimelineEntry } from "../../client/timeline/entry.ts"
import type { RunTimeline } from "../../client/timeline/timeline.ts"
import { totalWords, usedWords } from "../../client/timeline/total-words.ts"
import { duration } from "../../client/words.ts"
import { toShown } from "../shown.ts"
import { fit, widthOf } from "../text-width.ts"

const TIME = 11
const BAR = 20
/** Narrower than this, there is no room for bars. */
const WITH_BARS = 90

/** A run line by line, as wide as it may be: when each stretch began, how long it took, and what it was. */
export function timelineLines(timeline: RunTimeline, width: number): string[] {
  return [
    ...totalWords(timeline.totals),
    "",
    ...timeline.entries.map((entry) => entryLine(entry, timeline, width)),
  ].map((line) => clipped(line, width))
}

/** Two texts beside each other, in columns of the same width. */
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

function entryLine(entry: TimelineEntry, timeline: RunTimeline, width: number): string {
  const { at, ms, isOpen, title, detail, usage, position } = entry
  const took = ms === undefined ? "" : `${duration(ms)}${isOpen ? " …" : ""}`
  const start = `${String(position).padStart(5)}  ${`+${duration(at - timeline.startedAt)}`.padStart(TIME)}`
  const bar = width >= WITH_BARS ? `  ${barOf(entry, timeline)}` : ""
  const used = usage && usedWords(usage)
  const words = [title, ...(detail ? [detail] : []), ...(used ? [used] : [])].join(" · ")
  return `${start}  ${took.padStart(TIME)}${bar}  ${words}`
}

/** Where in the run it was, and how much of it: the whole bar is the whole run. */
function barOf({ at, ms = 0 }: TimelineEntry, { startedAt, until }: RunTimeline): string {
  const all = Math.max(1, until - startedAt)
  const from = Math.min(BAR - 1, Math.floor(((at - startedAt) / all) * BAR))
  const length = Math.min(BAR - from, Math.round((ms / all) * BAR))
  return (" ".repeat(from) + (length > 0 ? "━".repeat(length) : "╸")).padEnd(BAR)
}

function clipped(line: string, width: number): string {
  const shown = toShown(line)
  const { head, rest } = fit(shown, width)
  return rest === "" ? head.trimEnd() : `${fit(shown, width - 1).head}…`
}
