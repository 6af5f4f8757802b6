import { structuredPatch } from "diff"
import type { Diff } from "../../../core/protocol/proposals/proposal.ts"
import { DIM, type Line, line, span, type Style } from "../line.ts"
import { printable, printableLines } from "../printable.ts"
import { chop, wrap } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

const ADDED: Style = { colour: "green" }
const REMOVED: Style = { colour: "red" }
/** Comparing two very long texts would block the keyboard. */
const MAX_MS = 300

/**
 * The lines that show what a write would change: a file line by line, other data field by field. All of it is shown.
 */
export function diffLines({ before, after }: Diff, width: number): Line[] {
  const [was, will] = [fileText(before), fileText(after)]
  if (was !== undefined || will !== undefined) {
    const renamed = was !== undefined && will !== undefined ? renameLines(before, after, width) : []
    return [...renamed, ...textDiff(was ?? "", will ?? "", width)]
  }
  return fieldLines(before, after, width)
}

/** The text of a file, if the value is one. */
export const fileText = (value: unknown): string | undefined =>
  isRecord(value) && typeof value.path === "string" && typeof value.text === "string" ? value.text : undefined

function renameLines(before: unknown, after: unknown, width: number): Line[] {
  const [from, to] = [(before as Fields).path, (after as Fields).path]
  return from === to ? [] : wrap(line(`${printable(String(from))} → ${printable(String(to))}`), width)
}

function textDiff(before: string, after: string, width: number): Line[] {
  if (before === after) return [line(chatText.textUnchanged, DIM)]
  // A CR is shown unless every line of the file has one, before and after.
  const returns = endsInReturns(before) && endsInReturns(after) ? "" : "⟨U+000D⟩"
  return hunksOf(before, after).flatMap(({ oldStart, newStart, lines }) => [
    line(`@@ line ${Math.max(1, newStart || oldStart)}`, DIM),
    ...lines.flatMap((each) => chop(line(printable(each.replace(/\r$/, returns)), styleOf(each)), width)),
  ])
}

const endsInReturns = (text: string) => text.includes("\r\n") && !/(?<!\r)\n|\r$/.test(text)

interface Hunk {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: readonly string[]
}

function hunksOf(before: string, after: string): readonly Hunk[] {
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, timeout: MAX_MS })
  return patch?.hunks ?? [{ oldStart: 1, newStart: 1, lines: [...mark("-", before), ...mark("+", after)] }]
}

/**
 * The number of lines that a change adds to and removes from a file, such as `+3 −1`; undefined for anything but a
 * file.
 */
export function lineCounts({ before, after }: Diff): string | undefined {
  const [was, will] = [fileText(before), fileText(after)]
  if (was === undefined && will === undefined) return undefined
  const lines = was === will ? [] : hunksOf(was ?? "", will ?? "").flatMap((hunk) => hunk.lines)
  const count = (sign: string) => lines.filter((each) => each.startsWith(sign)).length
  return `+${count("+")} −${count("-")}`
}

/** Arguments that contain the text of a file. */
const TEXTS: readonly string[] = ["old_text", "new_text", "content"]

/** The names of the arguments whose whole value `diffLines` has already shown. */
export function argumentsInDiff({ before, after }: Diff, given: Fields): string[] {
  const [was, will] = [fileText(before), fileText(after)]
  if (was === undefined && will === undefined) {
    const [old, now] = [toFields(before), toFields(after)]
    const isShown = (name: string) => JSON.stringify(given[name]) === JSON.stringify(now[name])
    return Object.keys(given).filter(
      (name) => name in now && !isEmpty(now[name]) && old[name] !== now[name] && isShown(name),
    )
  }
  const sides = was === will ? [] : hunksOf(was ?? "", will ?? "").flatMap((hunk) => [side(hunk, "-"), side(hunk, "+")])
  const isShown = (name: string, value: string) =>
    (value.includes("\n") || TEXTS.includes(name)) &&
    sides.some((each) => each.includes(value.replaceAll("\r\n", "\n")))
  return Object.keys(given).filter((name) => {
    const value = given[name]
    if (typeof value !== "string" || value === "") return false
    return (value === will && value.includes("\n")) || isShown(name, value)
  })
}

const side = ({ lines }: Hunk, sign: "-" | "+"): string =>
  lines
    .flatMap((each) => (each.startsWith(" ") || each.startsWith(sign) ? [`${each.slice(1).replace(/\r$/, "")}\n`] : []))
    .join("")

const mark = (sign: string, text: string): string[] => (text === "" ? [] : text.split("\n").map((each) => sign + each))
const styleOf = (text: string): Style | undefined =>
  text.startsWith("+") ? ADDED : text.startsWith("-") ? REMOVED : text.startsWith("\\") ? DIM : undefined

function fieldLines(before: unknown, after: unknown, width: number): Line[] {
  const [was, will] = [toFields(before), toFields(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(will)])]
  return names
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(will[name]))
    .flatMap((name) => {
      const [old, now] = [was[name], will[name]]
      if (isLongText(old) || isLongText(now)) {
        const head = line(`${printable(name)}:`)
        const changed = textDiff(typeof old === "string" ? old : "", typeof now === "string" ? now : "", width)
        // "No newline at end of file" is meant for files only.
        return [head, ...changed.filter((each) => !each[0]?.text.startsWith("\\ "))]
      }
      const removed = isEmpty(old) ? [] : [span(`- ${printable(name)}: ${valueText(old)}`, REMOVED)]
      const added = isEmpty(now) ? [] : [span(`+ ${printable(name)}: ${valueText(now)}`, ADDED)]
      const hang = [span("  ")]
      return [removed, added].filter((each) => each.length > 0).flatMap((each) => wrap(each, width, hang))
    })
}

type Fields = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const toFields = (value: unknown): Fields =>
  isRecord(value) ? value : value === null || value === undefined ? {} : { value }
const isEmpty = (value: unknown): boolean => value === null || value === undefined
const isLongText = (value: unknown): boolean => typeof value === "string" && value.includes("\n")
const valueText = (value: unknown): string => printable(JSON.stringify(value))

/** The raw arguments by name. Text of several lines is shown as lines, everything else as JSON. */
export function argumentLines(given: Fields, width: number): Line[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const label = span(`${printable(name)}: `, DIM)
    if (typeof value === "string" && isLongText(value)) {
      const body = printableLines(value).flatMap((each) => chop(line(each), width - 2))
      return [[label], ...body.map((each): Line => [span("| ", DIM), ...each])]
    }
    return wrap([label, span(valueText(value))], width, [span("  ")])
  })
}
