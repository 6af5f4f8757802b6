import { useRef } from "react"
import type { Item, ShownMessage } from "../../../src/client/index.ts"
import type { Sending } from "../../state/outbox.ts"

/**
 * What is on its way and not in the conversation yet. Its words may come back over the open stream before the server's
 * answer to the one who sent them, and would then be shown twice until it has come.
 */
export function useNotYetThere(sending: readonly Sending[], items: readonly Item[]): readonly Sending[] {
  const since = useRef(new Map<string, number>()).current
  const last = lastSeq(items)
  for (const { key } of sending) if (!since.has(key)) since.set(key, last)
  return notYetThere(sending, items, since)
}

/** `since`: of each key, the newest message that there was when its words left. */
export function notYetThere(
  sending: readonly Sending[],
  items: readonly Item[],
  since: ReadonlyMap<string, number>,
): readonly Sending[] {
  if (sending.length === 0) return sending
  const oldest = Math.min(...sending.map(({ key }) => since.get(key) ?? Infinity))
  const come = items.flatMap((item) =>
    item.type === "message" && item.message.role === "user" && item.message.seq > oldest ? [item.message] : [],
  )
  return sending.filter(({ key, text, state }) => {
    // Of what was refused its person has to hear.
    if (state === "refused" || state === "old") return true
    const at = come.findIndex((message) => message.seq > (since.get(key) ?? Infinity) && isSaid(message, text))
    // Whoever says the same twice has said it twice.
    if (at >= 0) come.splice(at, 1)
    return at < 0
  })
}

const lastSeq = (items: readonly Item[]): number => {
  const last = items.findLast((item) => item.type === "message")
  return last?.type === "message" ? last.message.seq : 0
}

/** Of a long message only the beginning is told. */
const isSaid = ({ content, length }: ShownMessage, text: string): boolean =>
  length === undefined ? content.trim() === text.trim() : text.trim().startsWith(content.trim())
