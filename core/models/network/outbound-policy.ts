import { lookup as resolve, type LookupAddress, type LookupOptions } from "node:dns"
import { BlockList, isIP } from "node:net"
import { failure } from "../../protocol/errors.ts"

/**
 * Which addresses that are not public may be reached for people: none, those of private networks and this machine
 * (`true`), or the listed names and addresses. Addresses at which clouds hand out their secrets must always be listed.
 */
export type PrivateHosts = boolean | readonly string[]

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void
type LookUp = (host: string, options: LookupOptions, answer: Answer) => void

/**
 * Where our server may open a connection on behalf of a person (promise 23). What is judged is what is connected to: the
 * addresses go from here into the socket, so a name that means something else a moment later gains nothing.
 */
export class OutboundPolicy {
  readonly #allowed: PrivateHosts
  readonly #resolve: typeof resolve
  readonly #allowsThisMachine: boolean

  constructor(allowed: PrivateHosts = false, how: typeof resolve = resolve, allowsThisMachine = false) {
    this.#allowed = allowed
    this.#resolve = how
    this.#allowsThisMachine = allowsThisMachine
  }

  /** The same policy, which also lets loopback addresses be reached. */
  withThisMachine(): OutboundPolicy {
    return new OutboundPolicy(this.#allowed, this.#resolve, true)
  }

  /** Refuses a host, named or as an address, that may not be reached now. */
  async check(host: string): Promise<void> {
    this.checkAddress(host)
    await new Promise<void>((done, reject) => {
      this.lookup(host, { all: true }, (error) => (error ? reject(error) : done()))
    })
  }

  /** Refuses an address: sockets do not look those up. A name passes, and is judged when it is looked up. */
  checkAddress(host: string): void {
    const address = withoutBrackets(host)
    if (isIP(address) !== 0 && !this.#mayReach(address, address)) throw notAllowed(host)
  }

  /** In place of `dns.lookup`. One address that may not be reached spoils the name, and a name without any is the same. */
  readonly lookup: LookUp = (host, options, answer) => {
    this.lookupOpenly(host, options, (error, ...found) => answer(error && notAllowed(host), ...found))
  }

  /** The same for hosts that the operator has chosen: why a name has no address is told. */
  readonly lookupOpenly: LookUp = (host, options, answer) => {
    this.#resolve(withoutBrackets(host), { ...options, all: true }, (error, addresses) => {
      if (error) return answer(error, [])
      const fit = addresses.length > 0 && addresses.every(({ address }) => this.#mayReach(host, address))
      if (!fit) return answer(notAllowed(host), [])
      const [first] = addresses as [LookupAddress]
      return options.all ? answer(null, addresses) : answer(null, first.address, first.family)
    })
  }

  /**
   * Whether people come here because the operator has said so: then they may hear how it went in every detail. Of the rest
   * of the world they would learn which doors are open, with us as the one who knocks.
   */
  isOperators(host: string, address: string): boolean {
    return !isPublic(address) || this.#isListed(host, address)
  }

  #mayReach(host: string, address: string): boolean {
    if (isPublic(address)) return true
    if (this.#allowsThisMachine && check(loopback, address)) return true
    if (typeof this.#allowed === "boolean")
      return this.#allowed && check(ofPrivateNetworks, address) && !check(ofClouds, address)
    return this.#isListed(host, address)
  }

  #isListed(host: string, address: string): boolean {
    const listed = typeof this.#allowed === "boolean" ? [] : this.#allowed
    return [host, address].some((name) => listed.includes(name.toLowerCase()))
  }
}

/** Part of the internet at large. Of IPv6 that is one block; what is wrapped in it, IPv4 included, is not looked into. */
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
const ofPrivateNetworks = listOf(
  ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"],
)
/**
 * Where clouds hand out their secrets, beside the link-local addresses: Azure's looks public, the others stand in private
 * networks (Alibaba; AWS, Google, Oracle and Scaleway by IPv6).
 */
const cloudMetadata = [
  ...["168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"],
  ...["fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::/32", "fd00:42::/32"],
]
const ofClouds = listOf(...cloudMetadata)
const globalIpv6 = listOf("2000::/3")
/** The registries of special addresses: RFC 6890 and what was added to it since. */
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
    // These are known to be addresses. To ask Node about one of IPv6 makes a pattern of eight milliseconds, at every start.
    list.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4")
  }
  return list
}
