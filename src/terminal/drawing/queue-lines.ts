import { count } from "../../client/words.ts"
import type { Transcript } from "../../client/transcript/transcript.ts"
import type { QueuedMessage } from "../../protocol/answers.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import { clip } from "../wrap.ts"

const MAX_QUEUED = 3

/** Messages that wait: what for, and how each is sent now or taken back. By how things stand, not by how it was meant. */
export function queueLines(queue: readonly QueuedMessage[], transcript: Transcript, columns: number): Line[] {
  if (queue.length === 0) return []
  const [isHeld, help] = standing(transcript)
  const lines = queue.slice(0, MAX_QUEUED).map(({ text, when }) => {
    const how = isHeld ? "held" : when === "steer" && transcript.status === "running" ? "steers" : "waits"
    return wordsLine(`${how}: `, text, columns)
  })
  const more = queue.length - MAX_QUEUED
  const rest = more > 0 ? [line(`and ${count(more, "more message")}`, DIM)] : []
  return [...lines, ...rest, clip(line(`  ${help}`, DIM), columns)]
}

function standing({ status, run }: Transcript): [isHeld: boolean, help: string] {
  if (status === "running")
    return [false, "goes in with the next step, or at the end; Esc takes it back, Enter then sends it now"]
  if (status === "awaiting_confirmation") return [false, "until the change above is decided; Esc takes it back"]
  if (run?.status === "completed") return [false, "its turn comes now; Esc takes it back"]
  // Of a conversation that is taken up again nobody knows the run; what still waits then was held.
  const why = run === null && status !== "failed" ? "ended" : status === "failed" ? "failed" : "was stopped"
  return [true, `the run before it ${why}: /send sends it now, Esc takes it back`]
}

export const wordsLine = (how: string, text: string, columns: number): Line =>
  clip([span(how, DIM), span(toShown(text.slice(0, 1000).replaceAll(/\s+/g, " ")))], columns)
