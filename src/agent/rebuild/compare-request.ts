import { digestsOf, readDigest, type RequestDigest } from "../history/request-digest.ts"
import type { HistoryMessage } from "../model.ts"

/** What of a request is not as it was sent. A message is counted from 1; `from` is before `to` where the record cannot say which it was. */
export type Difference =
  | { readonly what: "step"; readonly step: string }
  | { readonly what: "system" | "tools" | "options" | "files" }
  | { readonly what: "message"; readonly from: number; readonly to: number; readonly role: HistoryMessage["role"] }
  | { readonly what: "messages"; readonly then: number; readonly now: number }

/** What is on record of the history of an earlier request: how many messages it had, and what they came to. */
export interface EarlierHistory {
  readonly messages: number
  readonly digest: string
}

/** How a request that was rebuilt differs from what is on record of the one that was sent, in the order of the request. */
export function compareRequest(
  recorded: RequestDigest,
  rebuilt: { readonly digest: string; readonly history: readonly HistoryMessage[] },
  earlier: readonly EarlierHistory[] = [],
): Difference[] {
  const now = readDigest(rebuilt.digest)
  if (!now) throw new TypeError(`"${rebuilt.digest}" is no digest of a request`)
  const parts = (["system", "tools", "options"] as const).filter((part) => now[part] !== recorded[part])
  const differences: Difference[] = parts.map((what) => ({ what }))
  const message = compareHistory(recorded, rebuilt.history, earlier)
  if (message) differences.push(message)
  if (now.files !== recorded.files) differences.push({ what: "files" })
  return differences
}

function compareHistory(
  { messages, newest }: RequestDigest,
  history: readonly HistoryMessage[],
  earlier: readonly EarlierHistory[],
): Difference | undefined {
  const digests = digestsOf(history)
  const first = messages - newest.length
  const at = newest.findIndex((digest, index) => digest !== digests[first + index])
  if (at < 0) return history.length === messages ? undefined : { what: "messages", then: messages, now: history.length }
  const to = first + at + 1
  if (to > history.length) return { what: "messages", then: messages, now: history.length }
  // Of what stands before the newest only the sum is on record, unless an earlier request has told it.
  const known = earlier.findLast((each) => each.messages < to && digests[each.messages - 1] === each.digest)
  const from = at > 0 ? to : (known?.messages ?? 0) + 1
  return { what: "message", from, to, role: history[to - 1]!.role }
}
