import type { ConversationId } from "../../protocol/ids.ts"
import type { Journal } from "../journal.ts"
import type { Bus } from "../ports.ts"
import type { Runtime } from "./runtime.ts"

export interface IdlePorts {
  readonly runtime: Pick<Runtime, "rest" | "isWorking" | "closing">
  readonly journal: Pick<Journal, "recorded">
  readonly bus: Pick<Bus, "subscribe">
}

/**
 * Resolves when no process that shares the database works on a conversation, or when this process shuts down. `here`:
 * this process did the work, so that all its events were published here.
 */
export async function whenIdleAnywhere(ports: IdlePorts, id: ConversationId): Promise<"here" | "elsewhere"> {
  const { runtime } = ports
  while (!runtime.closing.aborted) {
    if (await runtime.rest(id)) return "here"
    if (runtime.closing.aborted) break
    using change = subscribe(ports, id) // before asking, so that no change is missed in between
    if (!(await isWorkingAnywhere(ports, id))) break
    await change.received
  }
  return "elsewhere"
}

export async function isWorkingAnywhere(
  { runtime, journal }: Pick<IdlePorts, "runtime" | "journal">,
  id: ConversationId,
): Promise<boolean> {
  if (runtime.isWorking(id)) return true
  const [recorded] = await journal.recorded([id])
  return recorded?.atWork === true
}

/** Changes of other processes are found by polling: `RemoteChanges` polls everything that is watched. */
function subscribe({ runtime, bus }: IdlePorts, id: ConversationId): Disposable & { readonly received: Promise<void> } {
  const changed = Promise.withResolvers<void>()
  const stop = () => changed.resolve()
  const unsubscribe = bus.subscribe(id, (live) => {
    if (live.type === "rest" || live.type === "gone" || (live.type === "recorded" && !live.atWork)) stop()
  })
  runtime.closing.addEventListener("abort", stop)
  return {
    received: changed.promise,
    [Symbol.dispose]() {
      runtime.closing.removeEventListener("abort", stop)
      unsubscribe()
    },
  }
}
