import { type Clock, monotonicOf } from "../agent/clock.ts"
import type { Conversation } from "../agent/conversation.ts"
import type { Journal } from "../agent/journal.ts"
import type { JournalEvent } from "../protocol/events.ts"
import { rootIdOf, spanIdOf } from "./ids.ts"
import type { RunSpan } from "./span.ts"

type Writing = "create" | "claim" | "append"
const WRITES: ReadonlySet<PropertyKey> = new Set<Writing>(["create", "claim", "append"])

/**
 * The same journal, with a span for each commit of events. How long a commit took is on no record, so it is told at once,
 * by the process that has waited for it; those of a process that dies before it could tell are left out.
 */
export function observedJournal(journal: Journal, clock: Clock, tell: (spans: readonly RunSpan[]) => void): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
      if (!WRITES.has(name)) return method
      return async (conversation: Conversation, events: readonly JournalEvent[], ...more: unknown[]) => {
        const run = runOf(conversation, events)
        const [at, begun] = [clock.now(), monotonicOf(clock)]
        const outcome = await method(conversation, events, ...more)
        // Refused: somebody else was faster, and nothing was written.
        if (run && outcome !== false && (outcome === undefined || outcome === true || outcome === "claimed"))
          tell([toSpan({ conversation, events, run }, at, at + monotonicOf(clock) - begun)])
        return outcome
      }
    },
  })
}

/** The run that a commit belongs to. One that ends a run and begins the next is part of the new one. */
function runOf({ run }: Conversation, events: readonly JournalEvent[]): RunSpan["run"] | undefined {
  const [first] = events
  if (!first || (first.type === "conversation_started" && first.forkedFrom)) return undefined
  return run?.id
}

interface Written {
  readonly conversation: Conversation
  readonly events: readonly JournalEvent[]
  readonly run: RunSpan["run"]
}

function toSpan({ conversation, events, run }: Written, from: number, to: number): RunSpan {
  const position = events[0]?.position ?? 0
  const attributes = {
    "gen_ai.conversation.id": conversation.id,
    "pawl.run.id": run,
    "pawl.commit.position": position,
    "pawl.commit.events": events.length,
  }
  const of = { run, id: spanIdOf(run, `commit ${position}`), parent: rootIdOf(run), kind: "internal" as const }
  return { ...of, name: "store commit", from, to, attributes }
}
