import manifest from "../../../package.json" with { type: "json" }
import { failure } from "../../protocol/errors.ts"
import { createApp } from "../../server/app.ts"
import type { ServerPorts } from "../../server/ports.ts"
import type { Config } from "../settings/config.ts"
import type { Opened } from "./from-config.ts"

type Given = Pick<ServerPorts, "metrics" | "streams"> & Partial<Pick<ServerPorts, "jwt" | "page" | "people">>

export interface Serves extends Given {
  readonly config: Config
  /** From then on other servers are the better choice. */
  readonly stopping?: AbortSignal
}

/** What is open in this process as a function of a request: for the port that `serve` listens on, and for no port at all. */
export function appOf(opened: Opened, { config, stopping, ...given }: Serves): ReturnType<typeof createApp> {
  const { store, runtime, models, devices, providers, embedder, databases, library } = opened
  const { host, publicUrl, allowedOrigins, trustedProxies, requestsPerMinute, threadPaths } = config
  const address = { host, publicUrl, allowedOrigins, trustedProxies }
  const ready = () => {
    store.engine.broken.throwIfAborted()
    if (stopping?.aborted) throw failure("draining")
    return store.readiness.check()
  }
  const { version } = manifest
  const packRoutes = opened.packs.routes
  const parts = { runtime, models, devices, embedder, providers, databases, library, packRoutes, ready, version }
  return createApp({ ...store, ...parts, address, requestsPerMinute, threadPaths, ...given })
}
