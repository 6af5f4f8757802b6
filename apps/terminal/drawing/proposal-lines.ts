import { describeProposal } from "../../../client/transcript/shown-calls.ts"
import type { ProposalItem } from "../../../client/transcript/transcript.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { argumentLines, diffLines, lineCounts, argumentsInDiff } from "./diff-lines.ts"
import { atMost, BOLD, DIM, indent, type Line, line, span, type Style } from "../line.ts"
import { printable } from "../printable.ts"
import { duration, humanName } from "../../../client/format.ts"
import { chop, clip, lineWidth, wrap } from "../wrap.ts"
import { changeCardText } from "../../strings/approvals.ts"

const KINDS: Record<Proposal["action"], { readonly says: string; readonly style: Style }> = {
  safe_create: { says: changeCardText.adds, style: { colour: "green" } },
  safe_update: { says: changeCardText.changes, style: { colour: "cyan" } },
  destructive_update: { says: changeCardText.overwrites, style: { colour: "red" } },
  destructive_delete: { says: changeCardText.deletes, style: { colour: "red" } },
}

const RUNS = { says: changeCardText.runsCommand, style: { colour: "red" } } as const
const SENDS = { says: changeCardText.sendsOut, style: { colour: "yellow" } } as const

/** Lines of a change that was applied without asking. */
const MAX_DECIDED = 24

/** A change that waits, with everything that an approval applies to. */
export function proposalLines(proposal: Proposal, width: number, place: string): Line[] {
  const { action, tool, summary, diff, reason, status } = proposal
  const { says, style } = proposal.sends ? SENDS : tool === "run_command" ? RUNS : KINDS[action]
  const head: Line = [
    span(`? ${place}`, { colour: "yellow", bold: true }),
    span(says, style),
    span(changeCardText.tool(printable(tool)), DIM),
  ]
  const inner = width - 2
  const body = [
    ...wrap(line(printable(summary), BOLD), inner),
    ...(diff ? diffLines(diff, inner) : []),
    ...sent(proposal, inner),
    ...(reason === undefined ? [] : wrap(line(printable(reason), { colour: "yellow" }), inner)),
    ...wrap(line(undoWords(proposal), DIM), inner),
    ...(status === "in_doubt"
      ? wrap(
          line(changeCardText.inDoubt, {
            colour: "yellow",
          }),
          inner,
        )
      : []),
  ]
  // A line that is too wide would be cut by the screen, and its end could not be read.
  return [...wrap(head, width), ...body.map(indent)].flatMap((each) => (each.length === 0 ? [each] : chop(each, width)))
}

function undoWords({ undoable, commandLine }: Proposal): string {
  if (undoable) return changeCardText.undoable
  return commandLine === undefined ? changeCardText.notUndoable : changeCardText.commandNotUndoable
}

/** The arguments that are not shown above. */
function sent({ arguments: given, diff, summary, commandLine }: Proposal, width: number): Line[] {
  const shown = diff ? argumentsInDiff(diff, given) : []
  if (commandLine !== undefined && given.command === commandLine && summary.endsWith(`: ${commandLine}`))
    shown.push("command")
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !shown.includes(name)))
  if (Object.keys(rest).length === 0) return []
  const above =
    shown.length > 0 ? wrap(line(changeCardText.shownAbove(shown.map(printable).join(", ")), DIM), width - 2) : []
  return [line(changeCardText.exactly, DIM), ...[...argumentLines(rest, width - 2), ...above].map(indent)]
}

/** These changes were applied without a card. */
const UNASKED: readonly (string | null)[] = ["policy", "grant"]

/**
 * The outcome of a change on one line, because the person has read its card. A change that was applied without asking
 * is shown in full. `ms`: how long it took.
 */
export function decidedLines(item: ProposalItem, width: number, ms?: number): Line[] {
  const { proposal, reason, decidedBy } = item
  const { sign, style } = MARKERS[proposal.status]
  const isDone = proposal.status === "applied" || proposal.status === "applying"
  const hint = proposal.status === "expired" ? changeCardText.proposeAgainHint : ""
  const counts = isDone && proposal.diff ? lineCounts(proposal.diff) : undefined
  const end = [counts, `${describeProposal(item)}${hint}`, ms ? duration(ms) : undefined].filter(Boolean).join(" · ")
  const [mark, tail] = [span(`${sign} `, style), span(` · ${end}`, DIM)]
  if (reason)
    return wrap([mark, ...reminder(proposal, width), tail, span(`: ${printable(reason)}`, DIM)], width, [span("  ")])
  const room = width - lineWidth([mark, tail])
  const head = clip([mark, ...clip(reminder(proposal, room), room), tail], width)
  const isUnseen = isDone && UNASKED.includes(decidedBy)
  const changed = isUnseen && proposal.diff ? atMost(diffLines(proposal.diff, width - 2), MAX_DECIDED) : []
  return [head, ...changed.map(indent)]
}

/** The summary, or the tool and its first argument if the summary is too long. */
function reminder({ summary, tool, arguments: given }: Proposal, width: number): Line {
  const first = firstText(given)
  if (summary.length <= width || first === undefined) return [span(printable(summary))]
  return [span(printable(humanName(tool))), span(`  ${first}`, DIM)]
}

/** The first text among the arguments of a call. */
export function firstText(input: Readonly<Record<string, unknown>>): string | undefined {
  const word = Object.values(input).find((value) => typeof value === "string" && value.trim() !== "")
  return typeof word === "string" ? printable(word.replaceAll(/\s+/g, " ").slice(0, 120)) : undefined
}

interface Look {
  readonly sign: string
  readonly style: Style
}

const NOT_DONE: Look = { sign: "✗", style: DIM }
const WAITS: Look = { sign: "?", style: { colour: "yellow" } }

const MARKERS: Record<Proposal["status"], Look> = {
  applying: { sign: "…", style: { colour: "cyan" } },
  applied: { sign: "✓", style: { colour: "green" } },
  failed: { sign: "✗", style: { colour: "red" } },
  rejected: NOT_DONE,
  expired: NOT_DONE,
  superseded: NOT_DONE,
  abandoned: NOT_DONE,
  in_doubt: WAITS,
  pending: WAITS,
}
