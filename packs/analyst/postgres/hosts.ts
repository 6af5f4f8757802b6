import type { LookupAddress } from "node:dns"
import { isIP } from "node:net"

/** Which hosts users may connect to. Connections use exactly the addresses that it returns. */
export interface HostRules {
  /** Throws `host_not_allowed` if the address is not permitted. A name is checked when it is resolved. */
  checkAddress(host: string): void
  /** True if people may see why a connection to this address failed. Otherwise they only see that it failed. */
  isOperators(host: string, address: string): boolean
  lookup(
    host: string,
    options: { readonly all: true },
    answer: (error: Error | null, addresses: string | LookupAddress[]) => void,
  ): void
}

/** The addresses of a host. Throws unless all of them are permitted. */
export async function addressesOf(host: string, rules: HostRules): Promise<string[]> {
  if (isIP(host) !== 0) {
    rules.checkAddress(host)
    return [host]
  }
  return new Promise((resolve, reject) => {
    rules.lookup(host, { all: true }, (error, addresses) => {
      if (error || typeof addresses === "string") return reject(error ?? new Error("no addresses"))
      resolve(addresses.map(({ address }) => address))
    })
  })
}
