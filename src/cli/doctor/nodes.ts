import { WRONG_KEY } from "../../compose/start-server.ts"
import { type Clock, machineTimeOf } from "../../agent/clock.ts"
import type { ListedNode } from "../../store/journal/node-list.ts"
import type { Store } from "../../store/store.ts"
import type { Finding } from "./finding.ts"

/** Clocks that differ by more are worth a word: rows go by the database's, but logs and files by the machine's. */
const DIFFERENCE_MS = 2000
const WRITTEN = Date.UTC(2026, 0, 1)
/** A node signs every two or three seconds; after eight the others take what it has. */
const SILENCE_MS = 5000

/** What several nodes on one database have to agree on, and who they are. */
export async function* examineNodes(
  { nodes, secrets, node: self }: Pick<Store, "nodes" | "secrets" | "node">,
  clock: Clock,
): AsyncGenerator<Finding> {
  yield (await secrets.isOurs()) ? ["ok", "master key: the one that the database is under"] : ["wrong", WRONG_KEY]
  const ahead = await nodes.aheadMs(() => machineTimeOf(clock))
  if (ahead === undefined) return yield examineOwnClock(clock)
  yield Math.abs(ahead) > DIFFERENCE_MS
    ? ["note", `clocks: this machine is ${seconds(ahead)} the database; set both by a time server (NTP)`]
    : ["ok", `clocks: this machine is ${seconds(ahead)} the database`]
  const others = (await nodes.read()).filter(({ id }) => id !== self.id) // this command is one too, for a moment
  if (others.length === 0) yield ["note", "nodes: no server is at work on this database"]
  for (const each of others) yield* examineNode(each)
}

/** A file has no clock of its own: this machine's is all there is. Before this program was written it cannot be. */
function examineOwnClock(clock: Clock): Finding {
  const now = machineTimeOf(clock)
  if (now < WRITTEN)
    return ["wrong", `clock: this machine is at ${new Date(now).toISOString()}; set it by a time server (NTP)`]
  return ["ok", `clock: this machine is at ${new Date(now).toISOString()}`]
}

function* examineNode({ id, since, silentMs, aheadMs, leases }: ListedNode): Generator<Finding> {
  const held = leases === 1 ? "1 lease" : `${leases} leases`
  const life = `last sign of life ${(silentMs / 1000).toFixed(1)} s ago`
  const line = `node ${id}: since ${new Date(since).toISOString()}, ${life}, ${held}`
  yield silentMs > SILENCE_MS ? ["note", `${line}; silent for longer than a node at work is`] : ["ok", line]
  if (Math.abs(aheadMs) > DIFFERENCE_MS) yield ["note", `node ${id}: its clock is ${seconds(aheadMs)} the database`]
}

const seconds = (aheadMs: number) =>
  `${(Math.abs(aheadMs) / 1000).toFixed(Math.abs(aheadMs) < 1000 ? 3 : 1)} s ${aheadMs < 0 ? "behind" : "ahead of"}`
