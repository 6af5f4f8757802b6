import type { EventOf } from "../../protocol/events.ts"
import { sourceHead } from "../cite/source-numbers.ts"
import { asOneLine, asOutside } from "../outside-words.ts"

type Summary = Pick<EventOf<"compaction">, "summary" | "kept" | "outside">

/** What the model is told in the place of all that was said before. */
export function summaryWords({ summary = "", kept, outside }: Summary): string {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const written = joined(summary, listed("Sources that were cited, and may be cited again:", sources.map(sourceHead)))
  const told = joined(
    // What a model has written after it read words of others, they may have written: none of it passes for what follows.
    outside ? asOutside(outside, written) : written,
    listed("What the person has decided:", decisions.map(asOneLine)),
    listed("What is proposed and not settled:", proposals.map(asOneLine)),
  )
  return `[A summary of what was said before. The person still sees all of it.]\n${told}\n[End of the summary.]`
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n")

const listed = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, ...lines.map((line) => `- ${line}`)].join("\n")
