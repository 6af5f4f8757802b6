import type { Item } from "../../../src/client/index.ts"

/**
 * How the run before a summary has ended, where that leaves a question without its answer: it can be resumed as before. From
 * the lines that are shown, which are the same live and after a reload.
 */
export function leftUnanswered(items: readonly Item[]): "failed" | "cancelled" | undefined {
  const behind = items.findLastIndex(({ type }) => type !== "notice") + 1
  const notices = items.slice(behind).flatMap((item) => (item.type === "notice" ? [item.notice] : []))
  const stop = notices.find((notice) => notice === "failed" || notice === "cancelled")
  const last = items[behind - 1]
  // What was stopped after a whole answer was itself a summary.
  const isAnswered = last?.type === "message" && last.message.role === "assistant" && last.message.finish === "stop"
  return isAnswered || (notices.at(-1) !== "compacted" && notices.at(-1) !== "not_compacted") ? undefined : stop
}
