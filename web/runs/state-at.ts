import { client } from "../state/client.ts"

export type FoldedState = Readonly<Record<string, unknown>>

/** What was read lately. A row is never changed, and so neither is what the rows up to it come to. */
const known = new Map<string, Promise<FoldedState>>()
const MAX_KNOWN = 100

/** The state behind a row: folded by the server, which alone has the rows of the runs before, and the fold that it works with. */
export function readStateAt(conversationId: string, at: number): Promise<FoldedState> {
  if (at < 1) return Promise.resolve({})
  const key = `${conversationId} ${at}`
  const found = known.get(key)
  if (found) return found
  const reading = client.readState({ params: { id: conversationId }, query: { at } })
  known.set(key, reading)
  reading.catch(() => known.delete(key))
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return reading
}

/** The names of what is not as it was; where it stands says every row anew. */
export const changedBetween = (before: FoldedState, after: FoldedState): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== "position" && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
