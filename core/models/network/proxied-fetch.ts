import { isIP } from "node:net"
import { createAgents, fetchOver, sendOver } from "./guarded-fetch.ts"

/** The proxies of this machine, as `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name them. */
export interface ProxySettings {
  readonly http?: string
  readonly https?: string
  /** Hosts that are reached without, split by commas. */
  readonly except?: string
}

/**
 * A `fetch` for the operator's own addresses that goes through the operator's proxies; Node's own knows of none. What a
 * person has given us is never asked for with it (see `guardedRequest`), and this machine is reached without a proxy,
 * where local models are.
 */
export function proxiedFetch({ http, https, except }: ProxySettings): typeof globalThis.fetch {
  const proxyEnv = {
    ...(http ? { HTTP_PROXY: http } : {}),
    ...(https ? { HTTPS_PROXY: https } : {}),
    ...(except ? { NO_PROXY: except } : {}),
  }
  const [proxied, direct] = [createAgents({ proxyEnv }), createAgents()]
  return fetchOver((url, sent) => sendOver(isThisMachine(url.hostname) ? direct : proxied, url, sent))
}

function isThisMachine(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "[::1]") return true
  return isIP(host) === 4 && host.startsWith("127.")
}
