import type { EventOf, JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { showNumbers, sourcesIn } from "../cite/source-numbers.ts"
import { messageText } from "../history/parts.ts"
import { isKnown } from "../replay/replay.ts"

export interface EarlierText {
  readonly who: string
  readonly text: string
  /** It is words of others. */
  readonly isOutside: boolean
}

/** A row of the journal as it is told to a model that looks back; undefined for one that says nothing to it. */
export function earlierText(event: JournalEvent | UnknownEvent): EarlierText | undefined {
  if (!isKnown(event)) return undefined
  if (event.type === "tool_end") return resultText(event)
  if (event.type !== "message") return undefined
  const said = messageText(event.parts)
  const called = event.parts.flatMap((part) =>
    part.type === "call" ? [`[called ${part.name} with ${JSON.stringify(part.input)}]`] : [],
  )
  const text = [said, ...called].filter((part) => part !== "").join("\n")
  return { who: event.role === "user" ? "the person" : "you", text, isOutside: false }
}

function resultText({ text, data, brings }: EventOf<"tool_end">): EarlierText {
  const isOutside = brings === "outside" || brings === "both"
  const sources = sourcesIn(data)
  const numbers = new Map(sources?.flatMap(({ id, number }) => (number === undefined ? [] : [[id, number] as const])))
  const shown = showHidden(text)
  // A passage keeps the number under which it was shown, and lends none of its own.
  return { who: "a result", text: sources ? showNumbers(shown, numbers, sources) : shown, isOutside }
}
