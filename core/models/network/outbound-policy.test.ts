import { createServer } from "node:http"
import { once } from "node:events"
import type { lookup } from "node:dns"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { guardedFetch } from "./guarded-fetch.ts"
import { isPublic, OutboundPolicy } from "./outbound-policy.ts"

/** A resolver that answers with these, one answer after the other. */
function answering(...answers: readonly string[][]): { how: typeof lookup; readonly asked: string[] } {
  const asked: string[] = []
  const how = (host: string, _options: unknown, answer: (error: Error | null, found: object[]) => void) => {
    asked.push(host)
    const found = answers[Math.min(asked.length, answers.length) - 1] ?? []
    const error = found.length === 0 ? new Error("ENOTFOUND") : null
    answer(
      error,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )
  }
  return { how: how as unknown as typeof lookup, asked }
}

async function listening() {
  let connections = 0
  const server = createServer((request, response) => {
    if (request.url === "/away") return response.writeHead(302, { location: "http://127.0.0.1/" }).end()
    response.writeHead(200, { "content-type": "text/plain", "x-two": "b" })
    request.on("data", (chunk) => response.write(chunk)).on("end", () => response.end(`!${request.method}`))
  })
  server.on("connection", () => connections++)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    port,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

test.each(["93.184.216.34", "8.8.8.8", "2606:4700::1111", "172.32.0.1", "100.128.0.1"])("%s is public", (address) => {
  expect(isPublic(address)).toBe(true)
})

const INSIDE =
  "127.0.0.1 0.0.0.0 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 192.0.0.170 203.0.113.9"
const INSIDE_6 =
  ":: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 fe80::1 fec0::1 fc00::1 fd12::1 ff02::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1"
test.each([...INSIDE.split(" "), ...INSIDE_6.split(" ")])("%s is not", async (address) => {
  expect(isPublic(address)).toBe(false)
  const host = address.includes(":") ? `[${address}]` : address
  await expect(new OutboundPolicy().check(host)).rejects.toMatchObject({ code: "host_not_allowed" })
  await expect(new OutboundPolicy(false, answering([address]).how).check("name.example")).rejects.toMatchObject({
    code: "host_not_allowed",
  })
})

describe("a name", () => {
  test("with one internal address is refused, with the same error as a name without addresses", async () => {
    const mixed = await new OutboundPolicy(false, answering(["8.8.8.8", "10.0.0.1"]).how).check("h").catch(String)
    const none = await new OutboundPolicy(false, answering([]).how).check("h").catch(String)
    expect(mixed).toMatch("h has no public address, or does not exist. If its address is private")
    expect(none).toBe(mixed)
    const address = await new OutboundPolicy().check("10.0.0.1").catch(String)
    expect(address).toMatch(/10\.0\.0\.1 is not a public address\. The operator of this server can allow it/)
    await new OutboundPolicy(false, answering(["8.8.8.8", "2606:4700::1"]).how).check("h")
  })

  test.each([
    ...["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::a9fe:a9fe"],
    ...["fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "::ffff:100.100.100.200"],
  ])("a cloud's metadata service at %s is reached only if it is listed", async (address) => {
    const refused = { code: "host_not_allowed" }
    await expect(new OutboundPolicy(true).check(address)).rejects.toMatchObject(refused)
    await expect(new OutboundPolicy(true, answering([address]).how).check("h")).rejects.toMatchObject(refused)
    await new OutboundPolicy([address]).check(address)
  })

  test("is allowed by the operator: private networks by `true`, the rest only by name or address", async () => {
    await new OutboundPolicy(true, answering(["10.0.0.1"]).how).check("h")
    await new OutboundPolicy(true).check("127.0.0.1")
    await expect(new OutboundPolicy(true).check("169.254.169.254")).rejects.toMatchObject({ code: "host_not_allowed" })
    await new OutboundPolicy(["h"], answering(["10.0.0.1"]).how).check("h")
    await new OutboundPolicy(["10.0.0.1"], answering(["10.0.0.1"]).how).check("h")
    const other = new OutboundPolicy(["h"], answering(["10.0.0.1"]).how)
    await expect(other.check("g")).rejects.toMatchObject({ code: "host_not_allowed" })
  })
})

describe("a guarded fetch", () => {
  test("sends a text and streams the answer back", async () => {
    await using server = await listening()
    const fetch = guardedFetch(new OutboundPolicy(["models.example"], answering(["127.0.0.1"]).how))
    const response = await fetch(`http://models.example:${server.port}/x`, { method: "POST", body: "hello" })
    expect([response.status, response.headers.get("x-two"), await response.text()]).toEqual([200, "b", "hello!POST"])
  })

  test("checks the connected address: a name that was public a moment ago does not open a socket", async () => {
    await using server = await listening()
    const { how, asked } = answering(["8.8.8.8"], ["127.0.0.1"])
    const reach = new OutboundPolicy(false, how)
    await reach.check("rebound.example")
    const sending = guardedFetch(reach)(`http://rebound.example:${server.port}/`)
    await expect(sending).rejects.toMatchObject({ code: "host_not_allowed" })
    expect(asked).toHaveLength(2)
    expect(server.connections).toBe(0)
  })

  test.each(["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"])(
    "opens no socket to %s",
    async (host) => {
      await using server = await listening()
      const sending = guardedFetch(new OutboundPolicy())(`http://${host}:${server.port}/`)
      await expect(sending).rejects.toMatchObject({ code: "host_not_allowed" })
      expect(server.connections).toBe(0)
    },
  )

  test("follows no redirect, fails like fetch if no server listens, and stops when aborted", async () => {
    await using server = await listening()
    const fetch = guardedFetch(new OutboundPolicy(true))
    await expect(fetch(`http://127.0.0.1:${server.port}/away`)).rejects.toThrow("redirect")
    await expect(fetch("http://127.0.0.1:1/")).rejects.toThrow("fetch failed")
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(fetch(`http://127.0.0.1:${server.port}/`, { signal })).rejects.toThrow()
  })
})
