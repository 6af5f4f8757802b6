import type { TlsOptions } from "@nats-io/transport-node"
import { checkServerIdentity, type PeerCertificate } from "node:tls"

/** Node's own option, which the client hands on and does not declare. */
type Checked = TlsOptions & { checkServerIdentity(name: string, certificate: PeerCertificate): Error | undefined }

/**
 * TLS to servers whose certificates name one of these hosts. The client tells Node no name where a server is given by its address,
 * and Node asks for `localhost` then: the right certificate was refused, and any for `localhost` would have done.
 */
export function withNamedCertificate(servers: readonly URL[]): Checked {
  const hosts = servers.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, "$1"))
  return {
    checkServerIdentity(name, certificate) {
      // One that another server has told of is of the same cluster, and has its names.
      const refusals = (hosts.includes(name) ? [name] : hosts).map((host) => checkServerIdentity(host, certificate))
      return refusals.includes(undefined) ? undefined : refusals[0]
    },
  }
}
