import { readFileSync } from "node:fs"
import type { Clock } from "../shared/time/clock.ts"
import type { NodeMessages } from "../protocol/node-messages.ts"
import type { Bus } from "../engine/ports.ts"
import type { Log } from "../shared/log.ts"
import { ClusterBus } from "../bus/cluster.ts"
import { InProcessBus } from "../bus/in-process.ts"
import type { RefusalReason } from "../bus/message-cipher.ts"
import { NatsTransport } from "../bus/nats.ts"
import type { RefusedMessages } from "../bus/outbox.ts"
import { DirectMessages } from "../bus/wire.ts"
import type { Store } from "../store/store.ts"
import { type NatsServerSettings, type ServerSettings, SettingsError } from "./settings.ts"

/** How a server hears others of its cluster: `partial` where not all of them, `none` where there is nothing to hear them by. */
export type BusState = "ok" | "partial" | "down" | "none"

/** How a server hears of what happens, and speaks to the others. */
export interface NodeLinks extends AsyncDisposable {
  readonly bus: Bus
  readonly messages: NodeMessages
  state(): BusState
  /** Undefined where there is nothing to hear others by. */
  lag(): BusLag | undefined
  /** Messages that could not be opened. */
  readonly refused?: Pick<RefusedMessages, "senders">
}

/** How long words take on their way to others. */
export interface BusLag {
  /** To NATS and back; undefined while it is down. */
  readonly serverMs: number | undefined
  /** To each node that answers and back. */
  readonly nodesMs: ReadonlyMap<string, number>
  /** What was sent and NATS has not yet said it has, in bytes or so. */
  readonly unheard: number
  /** How many messages were refused since the start. */
  readonly refused: ReadonlyMap<RefusalReason, number>
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
  demandCredentials(nats)
  const { url, cluster, carriesText } = nats
  const credentials = nats.credentialsFile === undefined ? undefined : readCredentials(nats.credentialsFile)
  const { secrets, node } = store
  const keys = { current: () => secrets.currentKey(), all: () => secrets.allKeys() }
  const wire = new NatsTransport({ url, cluster, credentials }, { self: node.id, keys, ...ports })
  const bus = new ClusterBus(wire, { ...ports, carriesText, others: () => store.node.others })
  // What is asked of devices are words of people, too.
  const messages = carriesText ? new DirectMessages(wire, { mail, log: ports.log }) : mail
  const state = () => (wire.up ? (bus.isPartial ? "partial" : "ok") : "down")
  const lag = () => ({
    serverMs: wire.lagMs,
    nodesMs: bus.lagsMs(),
    unheard: wire.unconfirmed,
    refused: wire.refused.totals,
  })
  return { bus, messages, state, lag, refused: wire.refused, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Messages are encrypted, but a NATS that lets everybody in can still be flooded, and shows who talks to whom. */
function demandCredentials({ url, credentialsFile }: NatsServerSettings): void {
  const servers = url.split(",").map((each) => new URL(each.trim()))
  if (credentialsFile !== undefined || servers[0]?.username) return
  const open = servers.find(({ hostname }) => !LOOPBACK.test(hostname))
  if (!open) return
  throw new SettingsError(
    `NATS at ${open.host} is on another machine, but the settings have no credentials for it. Put a user and password, or a ` +
      "token, before the host in NATS_URL (nats://name:password@host:4222), or set NATS_CREDS to a credentials file, and let " +
      "NATS reject all other connections.",
  )
}

function readCredentials(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new SettingsError(`The credentials file of NATS (NATS_CREDS) cannot be read: ${path}`, { cause: error })
  }
}
