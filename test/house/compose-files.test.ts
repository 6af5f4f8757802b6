import { readFileSync } from "node:fs"
import { BlockList } from "node:net"
import { expect, test } from "vitest"
import { parse } from "yaml"

interface Composed {
  readonly services: Record<string, { readonly networks?: Record<string, { readonly ipv4_address?: string }> }>
  readonly networks: Record<string, { readonly ipam: { readonly config: readonly Record<string, string>[] } }>
}

const inside = (address: string, range: string | undefined) => {
  const [network = "", bits] = (range ?? "").split("/")
  const list = new BlockList()
  list.addSubnet(network, Number(bits))
  return list.check(address)
}

test("the balancer's own address is in its network, and none that Docker gives to a container that starts before it", () => {
  const { services, networks } = parse(readFileSync("compose.cluster.yaml", "utf8")) as Composed
  const [{ subnet, ip_range: given } = {}] = networks.default?.ipam.config ?? []
  const address = services.balancer?.networks?.default?.ipv4_address ?? ""
  expect([inside(address, subnet), inside(address, given ?? subnet)]).toEqual([true, false])
  const trusted = readFileSync("compose.cluster.yaml", "utf8").match(/PAWL_TRUSTED_PROXY: (\S+)/)?.[1]
  expect(trusted).toBe(address)
})
