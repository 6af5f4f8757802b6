import type { LookupAddress } from "node:dns"
import { isIP } from "node:net"

/** Which hosts users may connect to. Connections use exactly the addresses that it returns. */
export interface HostRules {
  /** Throws `host_not_allowed` for an address that may not be reached; a name is judged when it is looked up. */
  checkAddress(host: string): void
  /** Whether people may hear how a try to reach this address went. Of others they hear only whether PostgreSQL is there. */
  isOperators(host: string, address: string): boolean
  lookup(
    host: string,
    options: { readonly all: true },
    answer: (error: Error | null, addresses: string | LookupAddress[]) => void,
  ): void
}

/** The addresses of a host, each of them one that may be reached. */
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
