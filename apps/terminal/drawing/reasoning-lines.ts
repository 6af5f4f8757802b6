import { lastThought, formatThinking, formatThought } from "../../../client/transcript/reply-text.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import { DIM, type Line, line } from "../line.ts"
import { printable, printableLines } from "../printable.ts"
import { clip, wrap } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

/** Says that the model has reasoned; a command shows the text. */
export function reasoningHeadLines(ms: number | undefined, width: number): Line[] {
  return [[], ...wrap(line(chatText.thought(formatThought(ms)), DIM), width)]
}

export function thinkingLines(thinking: NonNullable<Transcript["thinking"]>, width: number): Line[] {
  const last = lastThought(thinking.text)
  return [[], clip(line(`· ${formatThinking(thinking.ms)}${last === "" ? "" : `: ${printable(last)}`}`, DIM), width)]
}

export function reasoningLines(text: string, ms: number | undefined): Line[] {
  return [[], line(`${formatThought(ms)}:`, DIM), ...printableLines(text.trim()).map((each) => line(`  ${each}`, DIM))]
}
