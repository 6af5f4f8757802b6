import { z } from "zod"
import { lazily } from "../lazily.ts"

/** What a model thought before its reply, as far as its provider tells it in words: what is sealed is for the provider alone. */
export const Reasoning = lazily(() =>
  z.object({
    text: z.string(),
    /** How long that took, where it was seen to come. */
    ms: z.number().optional(),
    /** Of a long one that is told with other messages: `text` is its beginning. */
    truncated: z.literal(true).optional(),
  }),
)
export interface Reasoning extends Readonly<z.infer<typeof Reasoning>> {}

/** What stands between two blocks of thinking, while they come and when they are whole. */
export const BETWEEN_THOUGHTS = "\n\n"

/** A part of a reply: a block of thinking among others. */
type AnyPart =
  | { readonly type: string }
  | { readonly type: "reasoning"; readonly text: string; readonly ms?: number | undefined }

/** The thinking of a reply as people are shown it; undefined where there is none in words. */
export function reasoningOf(parts: readonly AnyPart[]): Reasoning | undefined {
  // Most replies are without: they cost a look at each part.
  if (!parts.some(({ type }) => type === "reasoning")) return undefined
  const blocks = parts.flatMap((part) => (part.type === "reasoning" && "text" in part ? [part] : []))
  const text = blocks.flatMap((block) => (block.text.trim() === "" ? [] : [block.text])).join(BETWEEN_THOUGHTS)
  if (text === "") return undefined
  const timed = blocks.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))
  return timed.length === 0 ? { text } : { text, ms: timed.reduce((sum, ms) => sum + ms, 0) }
}
