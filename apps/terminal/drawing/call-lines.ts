import { automaticChart, toChartData } from "../../../packs/analyst/chart-spec/index.ts"
import type { CallItem, ShownCallState, ProposalItem } from "../../../client/transcript/transcript.ts"
import { callLabels } from "../../../client/transcript/shown-calls.ts"
import { chartLines } from "./chart-lines.ts"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { filesIn } from "../../../core/protocol/conversation/tool-calls.ts"
import { diffLines } from "./diff-lines.ts"
import { atLast, atMost, DIM, indent, type Line, line, type Span, span, type Style } from "../line.ts"
import { decidedLines, firstText } from "./proposal-lines.ts"
import { printable, printableLines } from "../printable.ts"
import { type DrawnTable, tableLines } from "./table-lines.ts"
import { chop, clip, wrap } from "../wrap.ts"
import { duration, humanName } from "../../../client/format.ts"
import { chatText } from "../../strings/chat.ts"

interface Look {
  readonly sign: string
  readonly style: Style
}

const MARKERS: Record<ShownCallState, Look> = {
  asked: { sign: "·", style: DIM },
  proposed: { sign: "?", style: { colour: "yellow" } },
  approved: { sign: "·", style: { colour: "cyan" } },
  running: { sign: "…", style: { colour: "cyan" } },
  handed_over: { sign: "…", style: DIM },
  ended: { sign: "✓", style: DIM },
  ok: { sign: "✓", style: { colour: "green" } },
  error: { sign: "✗", style: { colour: "red" } },
  denied: { sign: "✗", style: { colour: "red" } },
  rejected: { sign: "✗", style: DIM },
  expired: { sign: "✗", style: DIM },
  superseded: { sign: "✗", style: DIM },
  timed_out: { sign: "✗", style: { colour: "red" } },
  cancelled: { sign: "✗", style: DIM },
  interrupted: { sign: "!", style: { colour: "yellow" } },
  in_doubt: { sign: "!", style: { colour: "yellow" } },
}

/** These never started, so they have no duration. */
const NEVER_STARTED: readonly ShownCallState[] = ["denied", "rejected", "expired", "superseded"]
const FAILURES: readonly ShownCallState[] = ["error", "denied", "timed_out", "interrupted"]
const MAX_SHOWN = 40
const MAX_FAILURE = 4
const MAX_OUTPUT = 12

export interface CallDrawing {
  /** How long the call has been running. */
  readonly workingMs?: number | undefined
  /** The proposal of this call. */
  readonly proposal?: ProposalItem | undefined
}

/** A tool call on one line, followed by its output if that says more than "done". */
export function callLines(item: CallItem, width: number, { workingMs, proposal }: CallDrawing = {}): Line[] {
  const { text, delayedResult: late } = item
  const took = NEVER_STARTED.includes(item.state) ? undefined : (item.ms ?? workingMs)
  const head = proposal ? decidedLines(proposal, width, took) : [callLine(item, width, took)]
  const said = text ? outputLines(item, text, width) : []
  return [
    ...head,
    ...said,
    ...dataLines(item.data, width - 2).map(indent),
    ...(late ? delayedResultLines(late, width) : []),
  ]
}

/** The reason of a failure. For a command the end of its output, because the output is what it was run for. */
function outputLines({ state, data }: CallItem, text: string, width: number): Line[] {
  if (isCommand(data)) return atLast(quote(text, width), MAX_OUTPUT)
  return FAILURES.includes(state) ? atMost(quote(text, width), MAX_FAILURE) : []
}

const isCommand = (data: unknown) => typeof data === "object" && data !== null && "exitCode" in data

function callLine({ name, input, state, progress = "" }: CallItem, width: number, took: number | undefined): Line {
  const { sign, style } = MARKERS[state]
  const end = [state === "ok" ? "" : callLabels[state], clipped(progress), took === undefined ? "" : duration(took)]
    .filter(Boolean)
    .join(" · ")
  const hint = firstText(input)
  const tail: Span[] = end === "" ? [] : [span(`  ${end}`, DIM)]
  const words: Span[] = [
    span(`${sign} `, style),
    span(printable(humanName(name))),
    ...(hint ? [span(`  ${hint}`, DIM)] : []),
  ]
  return [...clip(words, width - (tail[0]?.text.length ?? 0)), ...tail]
}

const MAX_PROGRESS = 30

/** Limits the progress text of a tool, so that it does not push out the arguments. */
function clipped(progress: string): string {
  const shown = printable(progress)
  return shown.length > MAX_PROGRESS ? `${shown.slice(0, MAX_PROGRESS - 1)}…` : shown
}

export function delayedResultLines({ status, text }: NonNullable<CallItem["delayedResult"]>, width: number): Line[] {
  const says = status === "ok" ? chatText.endedAfterAll : chatText.failedAfterAll
  return wrap(line(`  ${says}${printable(text)}`, { colour: "yellow" }), width)
}

/** Draws a result that declares its kind. Any other result is described by the reply. */
export function dataLines(data: unknown, width: number): Line[] {
  if (typeof data !== "object" || data === null) return []
  const { kind, columns, rows, rowCount, text, before, after, spec, warnings } = data as Record<string, unknown>
  if (kind === "table" && Array.isArray(columns) && Array.isArray(rows)) {
    const names = columns.map(nameOf)
    const table = { columns: names, rows: rows.map((row) => toCells(row, names)) }
    return [
      ...tableLines(table, width),
      ...warningLines(warnings, width),
      ...(rowCount === rows.length ? automaticChartLines(table, width) : []),
    ]
  }
  if (kind === "chart" && typeof spec === "object" && spec !== null)
    return [...chartLines({ ...spec }, width), ...warningLines(warnings, width)]
  if ((kind === "text" || kind === "markdown") && typeof text === "string")
    return atMost(
      printableLines(text).flatMap((each) => chop(line(each), width)),
      MAX_SHOWN,
    )
  if (kind === "files") return filesIn(data).flatMap((file) => wrap(line(describeFile(file)), width))
  if (kind === "diff") return atMost(diffLines({ before, after }, width), MAX_SHOWN)
  return []
}

const describeFile = ({ name, type, size }: MessageFile): string => printable(chatText.file(name, type, size))

function warningLines(warnings: unknown, width: number): Line[] {
  if (!Array.isArray(warnings)) return []
  return atMost(
    warnings.flatMap((each) => wrap(line(`! ${printable(String(each))}`, { colour: "yellow" }), width)),
    MAX_SHOWN,
  )
}

/** Adds a chart if the table has a shape worth seeing. */
function automaticChartLines({ columns, rows }: DrawnTable, width: number): Line[] {
  const data = toChartData(
    columns.map((name) => ({ name, type: null })),
    rows,
  )
  const chart = automaticChart(data)
  return chart ? [[], ...chartLines({ ...chart, data: { values: data.rows } }, width)] : []
}

const nameOf = (column: unknown): string =>
  typeof column === "object" && column !== null && "name" in column ? String(column.name) : String(column)

function toCells(row: unknown, columns: readonly string[]): unknown[] {
  if (Array.isArray(row)) return row
  const fields = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>
  return columns.map((column) => fields[column])
}

function quote(text: string, width: number): Line[] {
  return printableLines(text.trim())
    .flatMap((each) => wrap(line(each, DIM), width - 2))
    .map(indent)
}
