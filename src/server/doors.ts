import { isIP } from "node:net"
import type { Context, MiddlewareHandler } from "hono"
import { failure } from "../protocol/errors.ts"
import type { Doors } from "./ports.ts"

const UNSAFE = new Set(["POST", "PUT", "PATCH", "DELETE"])
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"])

/**
 * Refuses requests that a web page has tricked a browser into (promise 16). A page can point a name of its own at this
 * machine, but then the Host header says that name; and it cannot hide its Origin when it changes something.
 */
export function watchDoors({ host, publicUrl, allowedOrigins = [] }: Doors): MiddlewareHandler {
  const names = new Set([host.toLowerCase(), ...(publicUrl ? [new URL(publicUrl).hostname.toLowerCase()] : [])])
  // A name can be made to point here, an address cannot: whoever listens on every address is reached by any of them.
  const anyAddress = EVERY_ADDRESS.has(host)
  const isOurs = (name: string) => isLoopback(name) || names.has(name) || (anyAddress && isIP(name) !== 0)
  const origins = new Set(allowedOrigins)
  let lastOurs: string | undefined // nearly every request asks for the same

  return async (c, next) => {
    const asked = hostOf(c)
    if (asked !== lastOurs) {
      const name = toName(asked)
      if (name === undefined || !isOurs(name)) throw failure("wrong_host", { host: asked.slice(0, 200) })
      lastOurs = asked
    }
    const origin = c.req.header("origin")
    if (origin !== undefined && UNSAFE.has(c.req.method) && !origins.has(origin) && !isSame(origin, asked)) {
      throw failure("wrong_origin", { origin: origin.slice(0, 200) })
    }
    await next()
  }
}

const hostOf = (c: Context): string => c.req.header("host") ?? new URL(c.req.url).host

/** The name in `name:port`, brackets of an IPv6 address taken off. */
function toName(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1")
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

/** A page of ours: it came from the very name and port that it asks. */
function isSame(origin: string, host: string): boolean {
  return URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host
}
