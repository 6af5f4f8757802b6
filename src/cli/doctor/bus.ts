import { type Clock, monotonicOf, sleep } from "../../agent/clock.ts"
import type { NodeLinks } from "../../compose/open-bus.ts"
import type { Store } from "../../store/store.ts"
import type { Finding } from "./finding.ts"

/** NATS is looked for, and nodes answer a first word, within a moment; after so long they do not. */
const PATIENCE_MS = 3000
const LOOK_MS = 50

interface Ports {
  readonly store: Pick<Store, "engine" | "nodes" | "node">
  readonly links: Pick<NodeLinks, "state" | "lag">
  readonly clock: Clock
}

/** Whether nodes hear each other at once, how long a word takes, and who is not heard. This command is one of them for a moment. */
export async function* examineBus({ store, links, clock }: Ports): AsyncGenerator<Finding> {
  // A SQLite file has one server, also while this command looks into it: there is nobody to hear.
  if (store.engine.exclusive || store.engine.name === "sqlite") return
  if (links.state() === "none") {
    yield ["ok", "bus: none, NATS_URL is not set; what happens at one node is seen at the others within two seconds"]
    return
  }
  const until = monotonicOf(clock) + PATIENCE_MS
  const isSoon = async (holds: () => boolean) => {
    while (!holds() && monotonicOf(clock) < until) await sleep(clock, LOOK_MS)
    return holds()
  }
  if (!(await isSoon(() => links.state() === "ok"))) {
    yield [
      "note",
      "bus: down, NATS (NATS_URL) does not answer; until it does nodes see what others do up to two seconds later",
    ]
    return
  }
  const others = (await store.nodes.read()).filter(({ id }) => id !== store.node.id)
  const heard = () => links.lag()?.nodesMs ?? new Map<string, number>()
  await isSoon(() => others.every(({ id }) => heard().has(id)))
  const [answered, toServer] = [heard(), links.lag()?.serverMs ?? 0]
  const slowest = Math.max(...answered.values())
  const toNodes = answered.size === 0 ? "" : `, to the slowest of ${answered.size} node(s) ${milliseconds(slowest)}`
  yield ["ok", `bus: up, there and back to NATS in ${milliseconds(toServer)}${toNodes}`]
  for (const { id } of others)
    if (!answered.has(id))
      yield [
        "note",
        `node ${id}: not heard on the bus; it is of an older version, or NATS_URL or PAWL_CLUSTER differ there`,
      ]
}

const milliseconds = (ms: number) => `${ms.toFixed(1)} ms`
