import { lookup as resolve, type LookupAddress, type LookupOptions } from "node:dns"
import { BlockList, isIP } from "node:net"
import { failure } from "../../protocol/errors.ts"

/**
 * Which non-public addresses may be reached for people: none, those of private networks and this machine (`true`), or
 * the listed names and addresses. Metadata services of clouds must always be listed.
 */
export type PrivateHosts = boolean | readonly string[]

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void
type Lookup = (host: string, options: LookupOptions, answer: Answer) => void

/**
 * Limits the addresses that the server connects to on behalf of a person. The checked addresses are passed to the
 * socket, so a later change of DNS has no effect.
 */
export class OutboundPolicy {
  readonly #allowed: PrivateHosts
  readonly #resolve: typeof resolve
  readonly #allowsThisMachine: boolean

  constructor(allowed: PrivateHosts = false, resolveHost: typeof resolve = resolve, allowsThisMachine = false) {
    this.#allowed = allowed
    this.#resolve = resolveHost
    this.#allowsThisMachine = allowsThisMachine
  }

  /** The same policy that also allows loopback addresses. */
  withThisMachine(): OutboundPolicy {
    return new OutboundPolicy(this.#allowed, this.#resolve, true)
  }

  /** Throws if a host, by name or address, may not be reached now. */
  async check(host: string): Promise<void> {
    this.checkAddress(host)
    await new Promise<void>((done, reject) => {
      this.lookup(host, { all: true }, (error) => (error ? reject(error) : done()))
    })
  }

  /**
   * Throws for a forbidden address, which sockets do not look up. A name passes, and is checked when it is looked up.
   */
  checkAddress(host: string): void {
    const address = withoutBrackets(host)
    if (isIP(address) !== 0 && !this.#mayReach(address, address)) throw notAllowed(host)
  }

  /** Replaces `dns.lookup`. A name is refused if one of its addresses is forbidden or it has none. */
  readonly lookup: Lookup = (host, options, answer) => {
    this.lookupForOperator(host, options, (error, ...found) => answer(error && notAllowed(host), ...found))
  }

  /** The same for hosts that the operator chose, with the original DNS errors. */
  readonly lookupForOperator: Lookup = (host, options, answer) => {
    this.#resolve(withoutBrackets(host), { ...options, all: true }, (error, addresses) => {
      if (error) return answer(error, [])
      const isAllowed = addresses.length > 0 && addresses.every(({ address }) => this.#mayReach(host, address))
      if (!isAllowed) return answer(notAllowed(host), [])
      const [first] = addresses as [LookupAddress]
      return options.all ? answer(null, addresses) : answer(null, first.address, first.family)
    })
  }

  /**
   * Whether the operator allowed this address. Then people may see detailed errors. For other addresses these would
   * reveal open ports.
   */
  isOperators(host: string, address: string): boolean {
    return !isPublic(address) || this.#isListed(host, address)
  }

  #mayReach(host: string, address: string): boolean {
    if (isPublic(address)) return true
    if (this.#allowsThisMachine && check(loopback, address)) return true
    if (typeof this.#allowed === "boolean")
      return this.#allowed && check(privateNetworks, address) && !check(cloudMetadataList, address)
    return this.#isListed(host, address)
  }

  #isListed(host: string, address: string): boolean {
    const listed = typeof this.#allowed === "boolean" ? [] : this.#allowed
    return [host, address].some((name) => listed.includes(name.toLowerCase()))
  }
}

/** Whether an address is public. Of IPv6 that is one block; embedded IPv4 addresses are not examined. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !check(notPublic, address)
    case 6:
      return check(globalIpv6, address) && !check(notPublic, address)
    default:
      return false
  }
}

const check = (list: BlockList, address: string) => list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6")
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, "$1")
const notAllowed = (host: string) => failure("host_not_allowed", { host: host.slice(0, 200) })

const loopback = listOf("127.0.0.0/8", "::1/128")
const privateNetworks = listOf(
  ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"],
)
/**
 * Metadata services of clouds, besides link-local addresses: Azure's looks public, the others are in private networks
 * (Alibaba; AWS, Google, Oracle and Scaleway over IPv6).
 */
const cloudMetadata = [
  ...["168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"],
  ...["fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::/32", "fd00:42::/32"],
]
const cloudMetadataList = listOf(...cloudMetadata)
const globalIpv6 = listOf("2000::/3")
/** The registries of special addresses: RFC 6890 and later additions. */
const notPublic = listOf(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
  ...cloudMetadata,
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
)

function listOf(...ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = "", prefix] = range.split("/")
    // Skips Node's validation, whose IPv6 pattern takes eight milliseconds to compile at every start.
    list.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4")
  }
  return list
}
