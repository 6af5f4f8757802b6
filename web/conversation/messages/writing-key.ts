import { useRef } from "react"
import type { Transcript } from "../../../src/client/index.ts"

interface WritingKeys {
  /** For the reply that is being written. */
  readonly next: string
  /** For replies that were seen being written: by message, the key they had then. */
  readonly of: ReadonlyMap<string, string>
}

/**
 * A reply that has been written goes on under the key that it was written under. Otherwise its whole text would be drawn
 * anew, in one long moment, when its last word has come.
 */
export function useWritingKey({ writing, items }: Transcript): WritingKeys {
  const kept = useRef({ count: 0, wasWriting: false, of: new Map<string, string>() }).current
  if (writing !== null) kept.wasWriting = true
  else if (kept.wasWriting) {
    kept.wasWriting = false
    const last = items.findLast((item) => item.type === "message")
    if (last?.message.role === "assistant") kept.of.set(last.key, `writing-${kept.count++}`)
  }
  return { next: `writing-${kept.count}`, of: kept.of }
}
