import { isIP } from "node:net"
import { createAgents, fetchOver, sendOver } from "./guarded-fetch.ts"

/** This machine's proxies, as set in `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface ProxySettings {
  readonly http?: string
  readonly https?: string
  /** Comma-separated hosts that bypass the proxies. */
  readonly except?: string
}

/**
 * A `fetch` through the operator's proxies, which Node's own ignores. For the operator's addresses only: addresses that
 * people provided use `createGuardedSend`. Local models on this machine are reached directly.
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
