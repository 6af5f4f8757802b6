import type { Difference } from "../../agent/rebuild/compare-request.ts"
import type { SaidReply } from "../../agent/rebuild/dry-run.ts"
import type { RebuiltAside } from "../../agent/rebuild/rebuild-asides.ts"
import type { RebuiltRequest, RebuiltRun } from "../../agent/rebuild/rebuild-requests.ts"
import { count, dollars, duration } from "../../client/words.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import { sideBySide } from "../../terminal/drawing/timeline-lines.ts"
import { toShown } from "../../terminal/shown.ts"
import { fit } from "../../terminal/text-width.ts"
import type { KeptFoldLook } from "./compare-fold.ts"
import type { DryRun } from "./dry-run.ts"

/** What a program reads through a pipe is as wide. */
const WIDTH = 120
/** Of each of two beside each other: what is said is compared, so that none of it is cut off. */
const COLUMN = Math.floor((WIDTH - 3) / 2)

interface ReplayedRun {
  readonly run: Run
  readonly rebuilt: RebuiltRun
  /** What the table of runs says otherwise than the fold, by its fields. */
  readonly unlike: readonly string[]
  /** The first row that cannot be read at all. */
  readonly torn: number | undefined
  readonly keptFold: KeptFoldLook
}

export interface PrintedReplay {
  readonly text: readonly string[]
  readonly json: unknown
  readonly code: 0 | 1
}

/** What is the same, and where the first difference is. */
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
    `${run.id} · ${run.status} · ${count(requests.length, "request")}`,
    ...requests.map(
      (each, at) => `${String(each.position).padStart(5)}  ${names[at]?.padEnd(widest)}  ${verdictWords(each)}`,
    ),
    "",
    ...stateWords(replayed),
    first ? firstWords(first) : equalWords(requests),
  ].map(toShown)
  const isWhole = !newer && missing === undefined && torn === undefined
  const code = first || !isWhole || !isFolded || keptFold.verdict === "differs" ? 1 : 0
  const ends = { newer: newer?.position ?? null, missing: missing ?? null, torn: torn ?? null }
  return { text, json: { ...json, first: first?.position ?? null, ...ends }, code }
}

type ToldRequest = RebuiltRequest | RebuiltAside

const inOrder = ({ requests, asides }: RebuiltRun): ToldRequest[] =>
  [...requests, ...asides].sort((one, other) => one.position - other.position)

const modelOf = (each: ToldRequest): string | null => ("beside" in each ? each.model : (each.reply.model ?? null))

/** What another model says, beside what was said. */
export function dryLines(replayed: ReplayedRun, { model, answers, parted, cost }: DryRun): PrintedReplay {
  const { run, rebuilt, torn } = replayed
  const columns = answers.flatMap(({ position, then, now }) => [
    "",
    `${String(position).padStart(5)}  ${duration(now.ms)}`,
    ...sideBySide(saidLines(then.model, then), saidLines(model.name, now), WIDTH),
  ])
  if (answers.length === 0)
    columns.push("", "No reply is on record in this run, so that there is no request to give to it.")
  const differs = answers.at(-1)?.now.calls.length === 0 ? "calls nothing there" : "calls something else"
  const end =
    parted !== undefined
      ? [`Row ${parted} is where they part: ${model.name} ${differs}, and what follows is on no record.`]
      : answers.length > 0
        ? [`${model.name} has called the same to the end of the run.`]
        : []
  const price =
    answers.length === 0
      ? "Nothing was asked, and nothing spent."
      : cost === null
        ? "What it cost is not known."
        : `Cost: ${dollars(cost)}.`
  const text = [`${run.id} · ${model.name}, dry`, ...columns, "", ...stateWords(replayed), ...end, price]
  const json = {
    run: run.id,
    conversation: run.conversationId,
    model: model.name,
    answers,
    parted: parted ?? null,
    cost,
  }
  const isWhole = !rebuilt.newer && rebuilt.missing === undefined && torn === undefined
  return { text: text.map(toShown), json, code: isWhole ? 0 : 1 }
}

function saidLines(name: string, { text, calls }: SaidReply): string[] {
  const words = text === "" ? [] : text.split("\n")
  const called = calls.map((call) => `→ ${call.name} ${JSON.stringify(call.input)}`)
  return [name, ...words, ...called].flatMap((line) => wrapped(line, COLUMN))
}

/** A line on as many lines as it takes, broken between words where there are any. */
function wrapped(line: string, width: number): string[] {
  const lines: string[] = []
  for (let left = toShown(line); ;) {
    const { head, rest } = fit(left, width)
    if (rest === "" || head === "") return [...lines, left]
    const space = rest.startsWith(" ") ? head.length : head.lastIndexOf(" ")
    const end = space > 0 ? space : head.length
    lines.push(left.slice(0, end))
    left = left.slice(end).replace(/^ /, "")
  }
}

function verdictWords({ verdict, because, differences }: ToldRequest): string {
  if (verdict === "differs") return `differs: ${differences.map(differenceWords).join("; ")}`
  if (verdict === "not rebuilt") return `not rebuilt: ${because}`
  return verdict
}

function differenceWords(difference: Difference | RebuiltAside["differences"][number]): string {
  switch (difference.what) {
    case "question":
      return "what is asked about"
    case "step":
      return `the model would not be asked here now, the next step is ${difference.step}`
    case "system":
      return "the system prompt"
    case "tools":
      return "the tools"
    case "options":
      return "the options (tool choice, settings, schema of the answer)"
    case "files":
      return "what is shown of files"
    case "messages":
      return `it had ${count(difference.then, "message")} and has ${difference.now} now`
    case "message": {
      const { from, to, role } = difference
      return from === to ? `message ${to} (${role})` : `one of messages ${from} to ${to}`
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
      ? ` It begins now: ${JSON.stringify(request.system.slice(0, 80))}.`
      : first?.what === "tools" && request
        ? ` They are now: ${request.tools.map(({ name }) => name).join(", ") || "none"}.`
        : ""
  const which =
    "beside" in told
      ? `the request for the ${told.beside} of row ${position}`
      : `the request that row ${position} answers`
  return `The first difference is in ${which}: ${what}.${now}`
}

function equalWords(requests: readonly ToldRequest[]): string {
  const equal = requests.filter(({ verdict }) => verdict === "equal").length
  if (equal === requests.length && equal > 0) return "Each request is, byte for byte, what was sent."
  if (equal > 0)
    return `Of ${count(requests.length, "request")} ${equal} could be compared, and ${equal === 1 ? "is" : "are"} what was sent.`
  return "Nothing could be compared: nothing is on record of what was sent."
}

const SILENCE = "nothing is said of it and of what follows"

function* stateWords({ run: { status }, rebuilt, unlike, torn, keptFold }: ReplayedRun): Generator<string> {
  const { newer, missing } = rebuilt
  if (newer)
    yield `Row ${newer.position} (${newer.type}) was written by a newer Pawl: it can be shown, not folded, and nothing is said of what follows it.`
  if (missing !== undefined)
    yield `Row ${missing} is not there, and later ones are: ${SILENCE}. Somebody was at the database.`
  else if (torn !== undefined) yield `Row ${torn} cannot be read: ${SILENCE}. Somebody was at the database.`
  if (status === "running") yield "The run is still at work: this is what it has on record so far."
  if (status === "paused") yield "The run waits for somebody: this is what it has on record so far."
  if (unlike.length > 0) yield `The fold does not end as the table of runs says (${unlike.join(", ")}).`
  if (keptFold.verdict === "equal")
    yield `The fold that is kept behind row ${keptFold.position} is, byte for byte, what the journal comes to.`
  if (keptFold.verdict === "passed over")
    yield `A fold that is kept behind row ${keptFold.position} does not fit, and is passed over.`
  if (keptFold.verdict === "differs")
    yield `The fold that is kept behind row ${keptFold.position} is not what the journal comes to: remove it (table kept_fold), and it is made anew.`
}
