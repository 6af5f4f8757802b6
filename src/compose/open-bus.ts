import { readFileSync } from "node:fs"
import type { Clock } from "../agent/clock.ts"
import type { Bus, Log } from "../agent/ports.ts"
import { ClusterBus } from "../bus/cluster.ts"
import { InProcessBus } from "../bus/in-process.ts"
import { NatsWire } from "../bus/nats.ts"
import type { Store } from "../store/store.ts"
import { SettingsError } from "./settings-error.ts"
import type { ServerSettings } from "./settings.ts"

/** How a server hears others of its cluster: `none` where there is nothing to hear them by. */
export type BusState = "ok" | "down" | "none"

/** The bus of a server: with NATS among others that share its PostgreSQL, alone otherwise. */
export function openBus({ nats }: Pick<ServerSettings, "nats">, store: Store, ports: { clock: Clock; log: Log }): Bus {
  // A SQLite file belongs to one process: there are no others.
  if (!nats || store.engine.exclusive) return new InProcessBus()
  const { url, cluster, carriesWords } = nats
  const credentials = nats.credentialsFile === undefined ? undefined : readCredentials(nats.credentialsFile)
  const wire = new NatsWire({ url, cluster, credentials }, { self: store.node.id, ...ports })
  return new ClusterBus(wire, { clock: ports.clock, carriesWords })
}

export async function closeBus(bus: Bus): Promise<void> {
  if (bus instanceof ClusterBus) await bus[Symbol.asyncDispose]()
}

export function busState(bus: Bus, { nats }: Pick<ServerSettings, "nats">, store: Store): BusState {
  if (!nats || store.engine.exclusive) return "none"
  return bus.hearsOthers() ? "ok" : "down"
}

function readCredentials(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new SettingsError(`The credentials file of NATS (NATS_CREDS) cannot be read: ${path}`, { cause: error })
  }
}
