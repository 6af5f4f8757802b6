import type { Proposal } from "../../src/protocol/index.ts"
import { type AnyBlock, blocksOf, isLongBlock, type SentBlock } from "../changes/blocks.ts"
import { toDateInput } from "./edit-fields.ts"
import { isEmpty, isRecord, labelOf } from "../changes/value-words.ts"

/** Shorter than this a text stands in another one by accident. */
const MIN_QUOTED = 8

/**
 * The arguments that a card has to show beside its change: all of them where there is none to show; else those that the
 * change does not tell already, such as the statement for a database, or "tomorrow" for what became a date.
 */
export function sentBlocks({ arguments: given, diff, summary }: Proposal): SentBlock[] {
  const told = diff && [summary, ...leaves(diff)]
  return Object.entries(given)
    .filter(([, value]) => !told || !isTold(value, told))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value)
      return { type: "sent", key: `sent ${name}`, label: labelOf(name), text }
    })
}

/** What of a proposal is cut until somebody asks for it, by key. */
export function cutKeys(proposal: Proposal): string[] {
  const shown: AnyBlock[] = [...(proposal.diff ? blocksOf(proposal.diff).blocks : []), ...sentBlocks(proposal)]
  return shown.filter(isLongBlock).map(({ key }) => key)
}

function isTold(value: unknown, told: readonly string[]): boolean {
  if (isEmpty(value)) return true
  if (Array.isArray(value)) return value.every((each) => isTold(each, told))
  // Whole rows, as an undo sends them, are what the change shows; every character of them can be opened.
  if (isRecord(value)) return true
  // Tools take a name without the blanks around it.
  const text = String(value).trim()
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(text)
  return told.some((each) => {
    return (
      each === text ||
      (text.length >= MIN_QUOTED && each.includes(text)) ||
      (isDate && toDateInput(each, null) === text)
    )
  })
}

function leaves(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves)
  return isEmpty(value) ? [] : [String(value)]
}
