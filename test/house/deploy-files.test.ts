import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { BlockList } from "node:net"
import { expect, test } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { settingTable } from "../../apps/cli/settings/table.ts"
import { routes } from "../../core/protocol/routes/index.ts"

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

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
}

interface Manifest {
  readonly kind: string
  readonly data: Record<string, string>
  readonly spec: {
    readonly selector: { readonly app: string }
    readonly template: {
      readonly metadata: { readonly labels: { readonly app: string } }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly [Container]
        readonly volumes: readonly { readonly name: string }[]
      }
    }
  }
}

test("the manifests for Kubernetes name settings, probes, ports and volumes that exist", () => {
  const parsed = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8"))
  expect(parsed.flatMap(({ errors }) => errors)).toEqual([])
  const manifests = parsed.map((document) => document.toJS() as Manifest)
  expect(manifests.map(({ kind }) => kind)).toEqual([
    "ConfigMap",
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "Ingress",
  ])
  const [config, { spec }, service] = manifests as [Manifest, Manifest, Manifest]
  expect(Object.keys(config.data).filter((name) => !(name in settingTable))).toEqual([])
  const pod = spec.template.spec
  const [container] = pod.containers
  const { startupProbe, readinessProbe, livenessProbe } = container
  const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)
  const { healthz, readyz } = routes
  expect(probes.map(({ path }) => path)).toEqual([healthz.path, healthz.path, readyz.path])
  expect(probes.every(({ port }) => port === container.ports[0]?.name)).toBe(true)
  expect(container.ports[0]?.containerPort).toBe(
    Number(/^EXPOSE (\d+)$/m.exec(readFileSync("Dockerfile", "utf8"))?.[1]),
  )
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name))
  expect(service.spec.selector).toEqual(spec.template.metadata.labels)
  // Draining, then 5 s for open responses and 4 s for writes in progress.
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(config.data.PAWL_DRAIN_SECONDS) + 9)
})

const systemd = spawnSync("systemd-analyze", ["--version"]).error === undefined

test.skipIf(!systemd)("systemd finds no fault in the unit", () => {
  const { stderr } = spawnSync("systemd-analyze", ["verify", "deploy/pawl.service"], { encoding: "utf8" })
  // It reads the units of this machine, too.
  expect(stderr.split("\n").filter((line) => line.includes("pawl.service"))).toEqual([])
})
