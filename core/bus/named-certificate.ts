import type { TlsOptions } from "@nats-io/transport-node"
import { checkServerIdentity, type PeerCertificate } from "node:tls"

/** A Node option that the NATS client passes on but does not declare. */
type Checked = TlsOptions & { checkServerIdentity(name: string, certificate: PeerCertificate): Error | undefined }

/**
 * TLS options that accept only certificates for one of these hosts. If a server is given by its IP address, the client
 * passes no name to Node, and Node would check for `localhost`: it would refuse the right certificate and accept any
 * for `localhost`.
 */
export function withNamedCertificate(servers: readonly URL[]): Checked {
  const hosts = servers.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, "$1"))
  return {
    checkServerIdentity(name, certificate) {
      // A server that the cluster announced has a certificate with the names of that cluster.
      const refusals = (hosts.includes(name) ? [name] : hosts).map((host) => checkServerIdentity(host, certificate))
      return refusals.includes(undefined) ? undefined : refusals[0]
    },
  }
}
