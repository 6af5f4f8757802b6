import { BlockList, isIP } from "node:net"
import type { Context, MiddlewareHandler } from "hono"
import type { RequestSource, Env } from "./request-env.ts"
import type { ServerAddress } from "./ports.ts"

/**
 * Finds out from where and for which name a request came. A header can be written by anyone, so what `X-Forwarded-*`
 * says counts only where the peer itself is a proxy that the operator has named.
 */
export function readRequestSource({ trustedProxies = [] }: ServerAddress): MiddlewareHandler<Env> {
  const trusted = toBlockList(trustedProxies)
  return async (c, next) => {
    c.set("source", sourceOf(c, trusted))
    await next()
  }
}

function sourceOf(c: Context<Env>, trusted: BlockList): RequestSource {
  const host = c.req.header("host") ?? new URL(c.req.url).host
  const peer = plainAddress(c.env?.incoming?.socket.remoteAddress ?? "")
  if (!isTrusted(trusted, peer)) return { address: peer || undefined, host, scheme: undefined }
  const scheme = nearest(c, "x-forwarded-proto")?.toLowerCase()
  return {
    address: addressOf(c, trusted, peer),
    host: nearest(c, "x-forwarded-host") || host,
    scheme: scheme === "http" || scheme === "https" ? scheme : undefined,
  }
}

/** What the proxy that speaks to us has said; what stands before it may be a stranger's. */
const nearest = (c: Context<Env>, name: string) => c.req.header(name)?.split(",").at(-1)?.trim()

/** Read from our end: what stands left of the first address that is not trusted was written by a stranger. */
function addressOf(c: Context<Env>, trusted: BlockList, peer: string): string {
  const hops = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => plainAddress(hop.trim()))
  let address = peer
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) return address
    address = hop
    if (!isTrusted(trusted, hop)) return address
  }
  return address
}

export function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const { address, bits } = toNetwork(network)
    list.addSubnet(address, bits, family(address))
  }
  return list
}

/** `10.0.0.0/8` as its parts; an address alone is a network of one. Throws what is neither. */
export function toNetwork(text: string): { address: string; bits: number } {
  const [, address = "", given] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const most = isIP(address) === 4 ? 32 : 128
  const bits = given === undefined ? most : Number(given)
  if (isIP(address) === 0 || bits > most) throw new Error(`${text} is neither an address nor a network`)
  return { address, bits }
}

export const isTrusted = (list: BlockList, address: string) =>
  isIP(address) !== 0 && list.check(address, family(address))

const family = (address: string) => (isIP(address) === 4 ? "ipv4" : "ipv6")

/** A server on both families sees IPv4 peers as `::ffff:1.2.3.4`. */
export const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")
