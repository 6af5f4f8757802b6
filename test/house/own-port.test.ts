import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { expect, test, vi } from "vitest"
import { ownPort } from "../support/processes/own-port.ts"

test("a port of one's own is none that the system gives to others, and none that somebody has", async () => {
  const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8").catch(() => "49152 65535")
  const taken = createServer().listen(Number(await ownPort()), "127.0.0.1")
  await once(taken, "listening")
  const { port } = taken.address() as AddressInfo
  // The same number twice, then another.
  const spots = [port, port, port + 1].map((each) => (each - 20_000 + 0.5) / 12_000)
  const random = vi.spyOn(Math, "random").mockImplementation(() => spots.shift() ?? 0.5)
  try {
    const own = Number(await ownPort())
    expect(own).not.toBe(port)
    expect(own).toBeLessThan(Number(range.split(/\s/)[0]))
  } finally {
    random.mockRestore()
    taken.close()
  }
})
