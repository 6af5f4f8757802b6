import type { Ports } from "../agent/ports.ts"
import type { Runtime } from "../agent/runtime/runtime.ts"
import type { UserId } from "../protocol/ids.ts"
import type { ServerMetrics } from "../server/metrics/server-metrics.ts"
import type { Devices } from "../server/socket/devices.ts"
import type { Store } from "../store/store.ts"
import type { OpenedModels } from "./models.ts"

/** What is open in this process, for everything that a program can ask of it. */
export interface Parts {
  readonly store: Store
  readonly runtime: Runtime
  /** What the loop works with. */
  readonly ports: Ports
  readonly models: OpenedModels
  readonly devices: Devices
  /** Of all that was asked since it was opened, for a server over it. */
  readonly metrics: ServerMetrics
  /** Runs are told as traces, so that who asks for one over a server may be linked to it. */
  readonly keepsTraces: boolean
  /** Aborts when it is closed: nothing is waited for any more. */
  readonly closing: AbortSignal
}

/** The same for one person. */
export interface PersonalParts extends Parts {
  /** Made when first needed. */
  user(): Promise<UserId>
}

/** As what deciding and erasing take it. */
export const portsOf = ({ store, runtime, ports, devices }: Parts) => ({
  ...ports,
  runtime,
  devices,
  proposals: store.proposals,
  conversations: store.conversations,
  retention: store.retention,
})
