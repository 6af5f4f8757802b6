import { lastThought, formatThinking, formatThought } from "../../../client/transcript/reply-words.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import { DIM, type Line, line } from "../line.ts"
import { toShown, toShownLines } from "../shown.ts"
import { clip, wrap } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

/** That it has thought, folded: what, a command shows. */
export function thoughtLines(ms: number | undefined, width: number): Line[] {
  return [[], ...wrap(line(chatText.thought(formatThought(ms)), DIM), width)]
}

/** One line that moves while it thinks. */
export function thinkingLines(thinking: NonNullable<Transcript["thinking"]>, width: number): Line[] {
  const last = lastThought(thinking.text)
  return [[], clip(line(`· ${formatThinking(thinking.ms)}${last === "" ? "" : `: ${toShown(last)}`}`, DIM), width)]
}

/** All of it. It is what a model wrote, and shown as it is. */
export function reasoningLines(text: string, ms: number | undefined): Line[] {
  return [[], line(`${formatThought(ms)}:`, DIM), ...toShownLines(text.trim()).map((each) => line(`  ${each}`, DIM))]
}
