import type {
  Difference,
  RebuiltAside,
  RebuiltRequest,
  RebuiltRun,
  ComparedReply,
} from "../../core/engine/rebuild/rebuild-requests.ts"
import { dollars, duration } from "../../client/format.ts"
import type { Run } from "../../core/protocol/conversation/conversation.ts"
import { sideBySide } from "../../apps/terminal/drawing/timeline-lines.ts"
import { printable } from "../../apps/terminal/printable.ts"
import { fit } from "../../apps/terminal/wrap.ts"
import type { StateComparison } from "./compare-snapshot.ts"
import type { DryRun } from "./dry-run.ts"
import { replayText } from "../../apps/strings/runs.ts"

/** The width, also if the output is a pipe. */
const WIDTH = 120
/** The width of each of two columns. Replies are wrapped and never cut. */
const COLUMN = Math.floor((WIDTH - 3) / 2)

interface ReplayedRun {
  readonly run: Run
  readonly rebuilt: RebuiltRun
  /** The differences between the table of runs and the replayed state, by field. */
  readonly unlike: readonly string[]
  /** The first unreadable row. */
  readonly torn: number | undefined
  readonly keptFold: StateComparison
}

export interface PrintedReplay {
  readonly text: readonly string[]
  readonly json: unknown
  readonly code: 0 | 1
}

/** The lines about equal requests and the first difference. */
export function replayLines(replayed: ReplayedRun): PrintedReplay {
  const { run, rebuilt, unlike, torn, keptFold } = replayed
  const { newer, missing } = rebuilt
  const isFolded = unlike.length === 0
  const requests = inOrder(rebuilt)
  const first = requests.find(({ verdict }) => verdict === "differs")
  const told = requests.map((each) => {
    const { position, verdict, because, differences } = each
    const beside = "beside" in each ? { beside: each.beside } : {}
    return { position, model: modelOf(each), ...beside, verdict, ...(because ? { because } : {}), differences }
  })
  const json = {
    run: run.id,
    conversation: run.conversationId,
    status: run.status,
    isFolded,
    unlike,
    keptFold,
    requests: told,
  }
  const names = requests.map((each) => `${modelOf(each) ?? ""}${"beside" in each ? `, ${each.beside}` : ""}`)
  const widest = Math.max(...names.map(({ length }) => length), 0)
  const text = [
    replayText.head(run.id, run.status, requests.length),
    ...requests.map(
      (each, at) => `${String(each.position).padStart(5)}  ${names[at]?.padEnd(widest)}  ${verdictWords(each)}`,
    ),
    "",
    ...stateWords(replayed),
    first ? firstWords(first) : equalWords(requests),
  ].map(printable)
  const isWhole = !newer && missing === undefined && torn === undefined
  const code = first || !isWhole || !isFolded || keptFold.verdict === "differs" ? 1 : 0
  const ends = { newer: newer?.position ?? null, missing: missing ?? null, torn: torn ?? null }
  return { text, json: { ...json, first: first?.position ?? null, ...ends }, code }
}

type ToldRequest = RebuiltRequest | RebuiltAside

const inOrder = ({ requests, asides }: RebuiltRun): ToldRequest[] =>
  [...requests, ...asides].sort((one, other) => one.position - other.position)

const modelOf = (each: ToldRequest): string | null => ("beside" in each ? each.model : (each.reply.model ?? null))

/** The lines with the replies of another model next to the recorded ones. */
export function dryLines(replayed: ReplayedRun, { model, answers, parted, cost }: DryRun): PrintedReplay {
  const { run, rebuilt, torn } = replayed
  const columns = answers.flatMap(({ position, then, now }) => [
    "",
    `${String(position).padStart(5)}  ${duration(now.ms)}`,
    ...sideBySide(saidLines(then.model, then), saidLines(model.name, now), WIDTH),
  ])
  if (answers.length === 0) columns.push("", replayText.noReply)
  const callsNothing = answers.at(-1)?.now.calls.length === 0
  const end =
    parted !== undefined
      ? [replayText.parted(parted, model.name, callsNothing)]
      : answers.length > 0
        ? [replayText.sameCalls(model.name)]
        : []
  const price =
    answers.length === 0
      ? replayText.nothingAsked
      : cost === null
        ? replayText.costUnknown
        : replayText.cost(dollars(cost))
  const text = [replayText.dryHead(run.id, model.name), ...columns, "", ...stateWords(replayed), ...end, price]
  const json = {
    run: run.id,
    conversation: run.conversationId,
    model: model.name,
    answers,
    parted: parted ?? null,
    cost,
  }
  const isWhole = !rebuilt.newer && rebuilt.missing === undefined && torn === undefined
  return { text: text.map(printable), json, code: isWhole ? 0 : 1 }
}

function saidLines(name: string, { text, calls }: ComparedReply): string[] {
  const words = text === "" ? [] : text.split("\n")
  const called = calls.map((call) => replayText.call(call.name, JSON.stringify(call.input)))
  return [name, ...words, ...called].flatMap((line) => wrapped(line, COLUMN))
}

/** Wraps a line between words. */
function wrapped(line: string, width: number): string[] {
  const lines: string[] = []
  for (let left = printable(line); ;) {
    const { head, rest } = fit(left, width)
    if (rest === "" || head === "") return [...lines, left]
    const space = rest.startsWith(" ") ? head.length : head.lastIndexOf(" ")
    const end = space > 0 ? space : head.length
    lines.push(left.slice(0, end))
    left = left.slice(end).replace(/^ /, "")
  }
}

function verdictWords({ verdict, because, differences }: ToldRequest): string {
  if (verdict === "differs") return replayText.differs(differences.map(differenceWords).join("; "))
  if (verdict === "not rebuilt") return replayText.notRebuilt(because)
  if (verdict === "broken off") return replayText.interrupted
  return verdict
}

function differenceWords(difference: Difference | RebuiltAside["differences"][number]): string {
  switch (difference.what) {
    case "question":
      return replayText.question
    case "step":
      return replayText.otherStep(difference.step)
    case "system":
      return replayText.systemPrompt
    case "tools":
      return replayText.tools
    case "options":
      return replayText.options
    case "files":
      return replayText.files
    case "messages":
      return replayText.messageCount(difference.then, difference.now)
    case "message": {
      const { from, to, role } = difference
      return from === to ? replayText.message(to, role) : replayText.messages(from, to)
    }
  }
}

function firstWords(told: ToldRequest): string {
  const { position, differences } = told
  const request = "request" in told ? told.request : undefined
  const what = differences.map(differenceWords).join("; ")
  const [first] = differences
  const now =
    first?.what === "system" && request
      ? replayText.startsNow(JSON.stringify(request.system.slice(0, 80)))
      : first?.what === "tools" && request
        ? replayText.toolsNow(request.tools.map(({ name }) => name).join(", "))
        : ""
  const which = "beside" in told ? replayText.decisionRequest(told.beside, position) : replayText.request(position)
  return replayText.firstDifference(which, what, now)
}

function equalWords(requests: readonly ToldRequest[]): string {
  const equal = requests.filter(({ verdict }) => verdict === "equal").length
  if (equal === requests.length && equal > 0) return replayText.allEqual
  if (equal > 0) return replayText.someEqual(requests.length, equal)
  return replayText.nothingRecorded
}

function* stateWords({ run: { status }, rebuilt, unlike, torn, keptFold }: ReplayedRun): Generator<string> {
  const { newer, missing } = rebuilt
  if (newer) yield replayText.newerRow(newer.position, newer.type)
  if (missing !== undefined) yield replayText.missingRow(missing)
  else if (torn !== undefined) yield replayText.tornRow(torn)
  if (status === "running") yield replayText.running
  if (status === "paused") yield replayText.paused
  if (unlike.length > 0) yield replayText.stateDiffers(unlike.join(", "))
  if (keptFold.verdict === "equal") yield replayText.snapshotEqual(keptFold.position)
  if (keptFold.verdict === "passed over") yield replayText.snapshotSkipped(keptFold.position)
  if (keptFold.verdict === "differs") yield replayText.snapshotDiffers(keptFold.position)
}
