import { setTimeout as pause } from "node:timers/promises"
import type { NatsServer } from "../support/processes/nats-server.ts"
import type { openOwnPostgres } from "../support/processes/own-postgres.ts"
import type { DevicePerson } from "./device-person.ts"
import type { LiveNode } from "./live-node.ts"

const HOUR_MS = 3_600_000

export interface Befallen {
  readonly nodes: readonly LiveNode[]
  readonly devices: readonly DevicePerson[]
  /** The replicated PostgreSQL. */
  readonly postgres: Awaited<ReturnType<typeof openOwnPostgres>>
  readonly nats: NatsServer | undefined
  /** Chance. */
  readonly roll: () => number
}

/** The faults of a cluster, by name. Each one ends by itself, except for clocks: those stay wrong until they are set. */
export function misfortunesOf({ nodes, devices, postgres, nats, roll }: Befallen): Record<string, () => Promise<void>> {
  const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(roll() * items.length)] as Item
  return {
    async killed() {
      const node = oneOf(nodes)
      await node.end("SIGKILL")
      await pause(roll() * 2000)
      await node.start()
    },
    async restarted() {
      const node = oneOf(nodes)
      await node.end("SIGTERM")
      await node.start()
    },
    async stopped() {
      const node = oneOf(nodes)
      node.pause()
      await pause(roll() * 14_000) // longer than a lease, or shorter
      node.goOn()
    },
    async "without its database"() {
      const { postgres: away } = oneOf(nodes)
      await away.leave("refusing")
      await pause(roll() * 4000)
      await away.comeBack()
    },
    async "with a database that says nothing"() {
      const { postgres: away } = oneOf(nodes)
      away.fallSilent(oneOf(["both ways", "answers"]))
      await pause(roll() * 4000)
      away.answerNewOnes()
    },
    async "all without their database"() {
      await postgres.restart(oneOf(["SIGINT", "SIGQUIT"]))
    },
    async "all moved to a replica"() {
      await postgres.makeStandby()
      await pause(roll() * 1000)
      // The primary fails, and either its machine reports that or the connection goes silent.
      const isSilent = roll() < 0.5
      if (isSilent) for (const node of nodes) node.postgres.fallSilent(oneOf(["both ways", "answers"]))
      const url = await postgres.failOver()
      for (const node of nodes) {
        node.postgres.moveTo(url)
        if (isSilent) node.postgres.answerNewOnes()
      }
    },
    async "with a clock that is set"() {
      const node = oneOf(nodes)
      node.setClock(oneOf([HOUR_MS, -HOUR_MS]))
      await pause(roll() * 4000)
      if (roll() < 0.5) node.setClock(0)
    },
    async "with clocks that jump"() {
      for (let jumps = 0; jumps < 4; jumps++) {
        oneOf(nodes).setClock(oneOf([HOUR_MS, 0, -HOUR_MS]))
        await pause(roll() * 1500)
      }
      for (const node of nodes) node.setClock(0)
    },
    async "with devices that move"() {
      for (let moves = 0; moves < 4; moves++) {
        await oneOf(devices).move()
        await pause(roll() * 1500)
      }
    },
    async "with devices that are not heard"() {
      const device = oneOf(devices)
      device.line.fallSilent(oneOf(["both ways", "answers"]))
      await pause(roll() * 4000)
      await device.line.comeBack()
    },
    ...(nats && {
      async "without NATS"() {
        await nats.kill()
        await pause(roll() * 3000)
        await nats.start()
      },
      async "with a NATS that says nothing"() {
        nats.signal("SIGSTOP")
        await pause(roll() * 7000)
        nats.signal("SIGCONT")
      },
      async "one without NATS"() {
        const away = oneOf(nodes).nats
        await away?.leave("refusing")
        await pause(roll() * 3000)
        await away?.comeBack()
      },
    }),
  }
}
