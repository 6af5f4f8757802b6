import { proposalWords } from "../../client/transcript/outcome-words.ts"
import type { ProposalItem } from "../../client/transcript/transcript.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { argumentLines, diffLines, fileText } from "./diff-lines.ts"
import { atMost, BOLD, DIM, indent, type Line, line, span, type Style } from "../line.ts"
import { toShown } from "../shown.ts"
import { duration, humanName } from "../../client/words.ts"
import { chop, clip, wrap } from "../wrap.ts"

const KINDS: Record<Proposal["action"], { readonly says: string; readonly style: Style }> = {
  safe_create: { says: "Adds", style: { colour: "green" } },
  safe_update: { says: "Changes", style: { colour: "cyan" } },
  destructive_update: { says: "Overwrites", style: { colour: "red" } },
  destructive_delete: { says: "Deletes", style: { colour: "red" } },
}

const RUNS = { says: "Runs a command", style: { colour: "red" } } as const
const SENDS = { says: "Sends outside", style: { colour: "yellow" } } as const

/** What is left of a change in the scrollback once it is decided. */
const MAX_DECIDED = 24
const MIN_REMINDER = 20

/** A change that waits, with everything that whoever agrees to it agrees to. */
export function proposalLines(proposal: Proposal, width: number, place: string): Line[] {
  const { action, tool, summary, diff, undoable, status } = proposal
  const { says, style } = proposal.sends ? SENDS : tool === "run_command" ? RUNS : KINDS[action]
  const head: Line = [
    span(`? ${place}`, { colour: "yellow", bold: true }),
    span(says, style),
    span(` · ${toShown(tool)}`, DIM),
  ]
  const inner = width - 2
  const above = diff ? fileText(diff.after) : undefined
  const body = [
    ...wrap(line(toShown(summary), BOLD), inner),
    ...(diff ? diffLines(diff, inner) : []),
    ...sent(proposal, inner, above),
    ...wrap(line(undoable ? "This can be undone afterwards." : "This cannot be undone.", DIM), inner),
    ...(status === "in_doubt"
      ? wrap(
          line("It began and broke off, and nobody can tell whether it was done. Look, then say.", {
            colour: "yellow",
          }),
          inner,
        )
      : []),
  ]
  // Whatever made these lines: one that is too wide would be cut on the screen, and nobody would see the rest of it.
  return [...wrap(head, width), ...body.map(indent)].flatMap((each) => (each.length === 0 ? [each] : chop(each, width)))
}

function sent({ arguments: given }: Proposal, width: number, above: string | undefined): Line[] {
  if (Object.keys(given).length === 0) return []
  return [line("Exactly this is done:", DIM), ...argumentLines(given, width - 2, above).map(indent)]
}

/** What became of it: a line, and what was changed. `ms`: how long that took. */
export function decidedLines(item: ProposalItem, width: number, ms?: number): Line[] {
  const { proposal, reason } = item
  const { sign, style } = LOOKS[proposal.status]
  const hint = proposal.status === "expired" ? "; /again proposes it once more" : ""
  const head = wrap(
    [
      span(`${sign} `, style),
      ...reminder(proposal, width),
      span(` · ${proposalWords(item)}${hint}`, DIM),
      ...(reason ? [span(`: ${toShown(reason)}`, DIM)] : []),
      ...(ms ? [span(` · ${duration(ms)}`, DIM)] : []),
    ],
    width,
    [span("  ")],
  )
  const isDone = proposal.status === "applied" || proposal.status === "applying"
  const changed = isDone && proposal.diff ? atMost(diffLines(proposal.diff, width - 2), MAX_DECIDED) : []
  return [...head, ...changed.map(indent)]
}

/** What it was, on one line where that says enough: all of it was read before it was decided. */
function reminder({ summary, tool, arguments: given }: Proposal, width: number): Line {
  const first = firstWords(given)
  if (summary.length <= width || first === undefined) return [span(toShown(summary))]
  return clip([span(toShown(humanName(tool))), span(`  ${first}`, DIM)], Math.max(MIN_REMINDER, width - 24))
}

/** What a call is about: the first text it was given. */
export function firstWords(input: Readonly<Record<string, unknown>>): string | undefined {
  const word = Object.values(input).find((value) => typeof value === "string" && value.trim() !== "")
  return typeof word === "string" ? toShown(word.replaceAll(/\s+/g, " ").slice(0, 120)) : undefined
}

interface Look {
  readonly sign: string
  readonly style: Style
}

const NOT_DONE: Look = { sign: "✗", style: DIM }
const WAITS: Look = { sign: "?", style: { colour: "yellow" } }

const LOOKS: Record<Proposal["status"], Look> = {
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
