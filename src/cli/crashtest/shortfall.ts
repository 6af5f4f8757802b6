import { count } from "../../client/words.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { CrashScenario } from "./scenario.ts"

/**
 * What kept a whole life from trying what its scenario is about. Killed anywhere it would fall short in the same way, and be told
 * as the same: a test that cannot fail.
 */
export function shortfallOf(
  events: readonly (JournalEvent | UnknownEvent)[],
  { replies }: CrashScenario,
  has: (tool: string) => boolean,
): string | undefined {
  const known = events as readonly JournalEvent[]
  const named = replies?.flatMap(({ calls }) => calls.map(({ name }) => name)) ?? []
  const unknown = named.find((name) => !has(name))
  if (unknown !== undefined) return `its replies call ${unknown}, and its agent has no tool of that name here.`
  const asked = known.filter((event) => event.type === "message" && event.role === "assistant").length
  const failed = known.find((event) => event.type === "run_ended" && event.status === "failed")
  if (failed?.type === "run_ended")
    return asked === replies?.length && failed.error?.code === "internal"
      ? `it has ${count(asked, "reply", "replies")}, and the model is asked for one more.`
      : `a run of it fails: ${failed.error?.message ?? failed.reason ?? "nobody knows why"}`
  if (replies && asked < replies.length)
    return `it has ${count(replies.length, "reply", "replies")}, and the model is asked for ${asked} of them only.`
  return undefined
}
