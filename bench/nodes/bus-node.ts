/**
 * The bus of one node in W11, in a separate process: `node bench/nodes/bus-node.ts <nats url> <name> <conversations>`.
 * Controlled by messages from the parent process; answers each with its CPU time and its measurements.
 */
import { createSecretKey } from "node:crypto"
import { systemClock } from "../../core/shared/time/clock.ts"
import { silentLog } from "../../core/shared/log.ts"
import { ClusterBus } from "../../core/bus/cluster.ts"
import { NatsTransport } from "../../core/bus/nats.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { cpuMs } from "../meters.ts"
import { DELTA } from "../script.ts"

export type BusOrder =
  /** Answered when messages of the other node arrive. */
  | { readonly type: "meet" }
  | { readonly type: "watch" }
  /** Stops watching. */
  | { readonly type: "leave" }
  /** Writes this many deltas to each conversation, one every `everyMs`. */
  | { readonly type: "write"; readonly deltas: number; readonly everyMs: number }
  /** Answered when each watcher has received this many deltas. `since` restarts the count of CPU time. */
  | { readonly type: "seen"; readonly deltas: number }
  | { readonly type: "since" }
  | { readonly type: "cpu" }

export interface BusSeen {
  readonly cpuMs?: number
}

const [url = "", self = "", count = "0"] = process.argv.slice(2)
const key = { id: "b0", key: createSecretKey(Buffer.alloc(32, "bench")) }
const keys = { current: async () => key, all: async () => [key] }
const wire = new NatsTransport({ url, cluster: "bench" }, { self, clock: systemClock, log: silentLog, keys })
const bus = new ClusterBus(wire, { clock: systemClock, carriesText: true, others: () => [self === "a" ? "b" : "a"] })
const ids = Array.from({ length: Number(count) }, (_, at) => `conv_${at}` as ConversationId)
/** The length of its reply that each watcher has received. */
const seen = new Float64Array(ids.length)
let leaving: (() => void)[] = []
let [since, position, offset] = [0, 0, 0]

process.on("message", (order: BusOrder) => void obey(order).then((answer) => process.send?.(answer)))
process.on("disconnect", () => process.exit(0))
process.send?.({})

async function obey(order: BusOrder): Promise<BusSeen> {
  switch (order.type) {
    case "meet":
      await until(() => bus.hearsOthers())
      return {}
    case "watch":
      leaving = ids.map((id, at) =>
        bus.subscribe(id, (live) => {
          if (live.type === "text_delta") seen[at] = live.offset
        }),
      )
      return {}
    case "leave":
      for (const leave of leaving.splice(0)) leave()
      return {}
    case "since":
      since = cpuMs()
      seen.fill(0)
      return {}
    case "write":
      await write(order.deltas, order.everyMs)
      return {}
    case "seen":
      await until(() => seen.every((units) => units >= order.deltas * DELTA.length))
      return {}
    case "cpu":
      return { cpuMs: cpuMs() - since }
  }
}

async function write(deltas: number, everyMs: number): Promise<void> {
  position++
  offset = 0
  for (let delta = 0; delta < deltas; delta++) {
    const from = performance.now()
    offset += DELTA.length
    for (const id of ids) bus.publish(id, { type: "text_delta", position, offset, text: DELTA })
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, everyMs - (performance.now() - from))))
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}
