import { readFileSync } from "node:fs"
import type { Clock } from "../agent/clock.ts"
import type { NodeMessages } from "../agent/runtime/node-messages.ts"
import type { Bus, Log } from "../agent/ports.ts"
import { ClusterBus } from "../bus/cluster.ts"
import { InProcessBus } from "../bus/in-process.ts"
import { NatsWire } from "../bus/nats.ts"
import { WireMessages } from "../bus/wire-messages.ts"
import type { Store } from "../store/store.ts"
import { SettingsError } from "./settings-error.ts"
import type { ServerSettings } from "./settings.ts"

/** How a server hears others of its cluster: `partial` where not all of them, `none` where there is nothing to hear them by. */
export type BusState = "ok" | "partial" | "down" | "none"

/** How a server hears of what happens, and speaks to the others. */
export interface NodeLinks extends AsyncDisposable {
  readonly bus: Bus
  readonly messages: NodeMessages
  state(): BusState
  /** Undefined where there is nothing to hear others by. */
  lag(): BusLag | undefined
}

/** How long words take on their way to others. */
export interface BusLag {
  /** To NATS and back; undefined while it is down. */
  readonly serverMs: number | undefined
  /** To each node that answers and back. */
  readonly nodesMs: ReadonlyMap<string, number>
  /** What was sent and NATS has not yet said it has, in bytes or so. */
  readonly unheard: number
}

/** With NATS among the others that share its PostgreSQL; without, alone but for the mail in the database. */
export function openLinks(
  { nats }: Pick<ServerSettings, "nats">,
  store: Store,
  ports: { readonly clock: Clock; readonly log: Log },
): NodeLinks {
  const mail = store.nodeMail
  // A SQLite file belongs to one process: there are no others.
  if (!nats || store.engine.exclusive) {
    const nothing = { state: () => "none" as const, lag: () => undefined, [Symbol.asyncDispose]: async () => {} }
    return { bus: new InProcessBus(), messages: mail, ...nothing }
  }
  const { url, cluster, carriesWords } = nats
  const credentials = nats.credentialsFile === undefined ? undefined : readCredentials(nats.credentialsFile)
  const wire = new NatsWire({ url, cluster, credentials }, { self: store.node.id, ...ports })
  const bus = new ClusterBus(wire, { ...ports, carriesWords, others: () => store.node.others })
  // What is asked of devices are words of people, too.
  const messages = carriesWords ? new WireMessages(wire, { mail, log: ports.log }) : mail
  const state = () => (wire.up ? (bus.isPartial ? "partial" : "ok") : "down")
  const lag = () => ({ serverMs: wire.lagMs, nodesMs: bus.lagsMs(), unheard: wire.unheard })
  return { bus, messages, state, lag, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() }
}

function readCredentials(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new SettingsError(`The credentials file of NATS (NATS_CREDS) cannot be read: ${path}`, { cause: error })
  }
}
