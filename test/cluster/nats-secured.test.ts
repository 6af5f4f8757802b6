import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { NatsTransport } from "../../core/bus/nats.ts"
import { busKeys } from "./links.ts"
import { newCredentials } from "./nats-credentials.ts"
import { certificates } from "./nats-certificates.ts"
import { hasNats, NatsServer } from "../support/processes/nats-server.ts"

/** The first thing that a node logs about the NATS at this address. */
async function told(url: string, credentials?: string): Promise<string> {
  const first = Promise.withResolvers<string>()
  const say = (event: string, { error }: { error?: unknown }) =>
    first.resolve(error === undefined ? event : `${event}: ${(error as Error).message}`)
  const log = { info: say, warn: say, error: say }
  const ports = { self: "node_a", clock: systemClock, log, keys: busKeys }
  await using transport = new NatsTransport({ url, cluster: "test", credentials }, ports)
  transport.setReceiver({ received() {}, unknownSender() {}, changed() {} })
  return await first.promise
}

/** As set by NODE_EXTRA_CA_CERTS. */
async function trusting<T>(certificate: string, work: () => Promise<T>): Promise<T> {
  const before = getCACertificates("default")
  setDefaultCACertificates([...before, certificate])
  try {
    return await work()
  } finally {
    setDefaultCACertificates(before)
  }
}

describe.skipIf(!hasNats)("NATS over TLS", () => {
  const [address, name] = [certificates.address, certificates.localhost]

  test("is accepted only if a trusted certificate matches its address or name", async () => {
    await using byAddress = await NatsServer.withCertificate(address)
    await using byName = await NatsServer.withCertificate(name)
    const at = (server: NatsServer, host: string) => server.url.replace("nats://127.0.0.1", `tls://${host}`)
    expect(await told(at(byAddress, "127.0.0.1"))).toMatch(/^bus_down: .*certificate/)
    await trusting(address.cert, async () => {
      expect(await told(at(byAddress, "127.0.0.1"))).toBe("bus_up")
      expect(await told(at(byAddress, "localhost"))).toMatch(/^bus_down: .*altnames/)
    })
    await trusting(name.cert, async () => {
      expect(await told(at(byName, "localhost"))).toBe("bus_up")
      expect(await told(at(byName, "127.0.0.1"))).toMatch(/^bus_down: /)
    })
  })

  test("does not fall back to clear text if TLS is required", async () => {
    await using plain = await NatsServer.start()
    expect(await told(plain.url.replace("nats://", "tls://pawl:secret@"))).toMatch(/^bus_down: .*tls/)
  })
})

test.skipIf(!hasNats)("NATS admits only nodes with a credentials file of its account", async () => {
  const { configuration, known, strange } = newCredentials()
  await using server = await NatsServer.with(configuration)
  expect(await told(server.url, known)).toBe("bus_up")
  for (const other of [strange, undefined]) expect(await told(server.url, other)).toMatch(/^bus_down: authorization/i)
})
