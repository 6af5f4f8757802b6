import type { FoundPassage } from "../../core/adapter.ts"
import type { ConversationView, Message, Proposal } from "../../core/protocol/index.ts"

/** Most characters of one item, and of all. */
const MAX_ONE = 4000
const MAX_ALL = 60_000

export const conversationLine = ({ id, title, agent, status, updatedAt }: ConversationView): string =>
  `${id}: ${toShortLine(title ?? "(no title)")} (agent ${agent}, ${status}, ${updatedAt})`

export const proposalLine = ({ id, summary, status, tool, conversationId, expiresAt }: Proposal): string =>
  `${id}: ${toShortLine(summary)} (${status}, ${tool}, in ${conversationId}, until ${expiresAt})`

/** Everything that a person would see before deciding. */
export function proposalInFull(proposal: Proposal): string {
  const { diff, undoable, action } = proposal
  return [
    proposalLine(proposal),
    `Class: ${action}. ${undoable ? "It can be undone." : "It cannot be undone."}`,
    `Arguments: ${JSON.stringify(proposal.arguments)}`,
    ...(diff ? [`Before: ${JSON.stringify(diff.before)}`, `After: ${JSON.stringify(diff.after)}`] : []),
  ]
    .map((line) => cut(line, MAX_ALL))
    .join("\n")
}

export function messageLine({ seq, role, content, toolCalls, status }: Message): string {
  const called = (toolCalls ?? []).map(({ name, input }) => `[calls ${name} ${JSON.stringify(input)}]`)
  const who = role === "tool" ? `tool${status && status !== "ok" ? ` (${status})` : ""}` : role
  return `${seq}. ${who}: ${cut([content, ...called].filter(Boolean).join(" "), MAX_ONE)}`
}

export const passageLine = ({ id, title, source, collection, text }: FoundPassage): string =>
  `${id}, ${toShortLine(title)} (${toShortLine(source)}, in ${toShortLine(collection)}):\n${cut(text, MAX_ONE)}`

/** The first items that fit. */
export function firstThatFit<Item>(items: readonly Item[], toText: (item: Item) => string): Item[] {
  let left = MAX_ALL
  const end = items.findIndex((item) => (left -= toText(item).length + 1) < 0)
  return end < 0 ? [...items] : items.slice(0, Math.max(end, 1))
}

export const toShortLine = (text: string): string => cut(text.replaceAll(/\s+/g, " ").trim(), 300)

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}… (${text.length - most} more characters)` : text
