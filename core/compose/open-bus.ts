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

/** The state of the connection to other nodes: `partial` if some are missing, `none` without a bus. */
type BusState = "ok" | "partial" | "down" | "none"

/** The bus of this process and its messages to other nodes. */
export interface NodeLinks extends AsyncDisposable {
  readonly bus: Bus
  readonly messages: NodeMessages
  state(): BusState
  /** Undefined without a bus. */
  lag(): BusLag | undefined
  /** Messages that failed authentication. */
  readonly refused?: Pick<RefusedMessages, "senders">
}

/** Latencies and counts of the bus. */
export interface BusLag {
  /** The round trip to NATS; undefined while it is down. */
  readonly serverMs: number | undefined
  /** The round trip to each node that answers. */
  readonly nodesMs: ReadonlyMap<string, number>
  /** Approximate bytes that NATS has not acknowledged. */
  readonly unheard: number
  /** Refused messages since the start, by reason. */
  readonly refused: ReadonlyMap<RefusalReason, number>
}

/** Through NATS if it is configured; otherwise through messages in the database. */
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
  requireCredentials(nats)
  const { url, cluster, carriesText } = nats
  const credentials = nats.credentialsFile === undefined ? undefined : readCredentials(nats.credentialsFile)
  const { secrets, node } = store
  const keys = { current: () => secrets.currentKey(), all: () => secrets.allKeys() }
  const wire = new NatsTransport({ url, cluster, credentials }, { self: node.id, keys, ...ports })
  const bus = new ClusterBus(wire, { ...ports, carriesText, others: () => store.node.others })
  // Device calls contain people's text too.
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

/** Messages are encrypted, but a NATS server without authentication can be flooded, and reveals who communicates. */
function requireCredentials({ url, credentialsFile }: NatsServerSettings): void {
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
