import { expect } from "vitest"
import type { NatsServerSettings } from "../../core/compose/settings.ts"
import type { NodeMessage, NodeMessages } from "../../core/protocol/node-messages.ts"
import { scripted, type ScriptedReply } from "../../core/testing.ts"
import type { TestDatabase } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { connect, type Connecting, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"

/** Intercepts a message on its way: it is delivered as often as `send` is called. */
export type OnTheWay = (message: NodeMessage, send: () => Promise<boolean>) => Promise<boolean>

/** Messages between the nodes that a test intercepts. */
export const disturbed =
  (onTheWay: OnTheWay) =>
  (own: NodeMessages): NodeMessages => ({
    self: own.self,
    send: (to, message) => onTheWay(message, () => own.send(to, message)),
    subscribe: (listener) => own.subscribe(listener),
  })

export interface NodesOptions {
  readonly database: TestDatabase
  /** Replies of the second node's model; the first node's model says nothing. */
  readonly script?: readonly ScriptedReply[]
  /** NATS settings, if the nodes are connected by more than the database. */
  readonly nats?: NatsServerSettings | undefined
  /** Both clocks stand still until they are turned. */
  readonly turned?: boolean
  /** Intercepts messages from the second node to the first, and the answers to them. */
  readonly onTheWay?: OnTheWay
  readonly onTheWayBack?: OnTheWay
}

/** Two servers on one database: Ada's device connects to `one`, and her requests go to `two`. */
export async function openNodes({ database, script = [], nats, turned, onTheWay, onTheWayBack }: NodesOptions) {
  const clocks = turned ? [new TurnedClock(), new TurnedClock()] : []
  const [first, second] = clocks
  const one = await openServer({
    ...{ database, model: scripted(), nats },
    ...(first ? { clock: first } : {}),
    ...(onTheWayBack ? { messages: disturbed(onTheWayBack) } : {}),
  })
  const two = await openServer({
    ...{ database, model: scripted(...script), url: one.place, nats },
    ...(second ? { clock: second } : {}),
    ...(onTheWay ? { messages: disturbed(onTheWay) } : {}),
  })
  const hears = ({ face }: typeof one) => !nats || face.pawl.ports.bus.hearsOthers()
  if (!turned) await expect.poll(() => hears(one) && hears(two)).toBe(true)
  const [token, ada, machine] = [await one.tokenFor("ada"), await two.visitor("ada"), new Machine()]
  const { engine } = two.face.store
  return {
    ...{ one, two, ada, machine, token, clocks },
    connect: (to: typeof one, more: Partial<Connecting> = {}) =>
      connect(machine, { url: to.url, token, deviceId: "laptop", ...more }),
    /** Turns both clocks, or some of them, in steps, until the promise settles. */
    async pass<Result>(
      happens: Promise<Result>,
      { some = clocks, step = 10 }: { some?: readonly TurnedClock[]; step?: number } = {},
    ): Promise<Result> {
      let over = false
      const watched = happens.finally(() => (over = true))
      watched.catch(() => {})
      while (!over) {
        for (const clock of some) await clock.turn(step)
        // By then most database queries have been answered; small steps are for slower ones.
        await engine.query("SELECT 1", [])
      }
      return watched
    },
    /** Removes a node that the other nodes take for dead. */
    strikeOff: async ({ face }: typeof one) => {
      const gone = { sql: "DELETE FROM node WHERE id = ?", values: [face.store.node.id] }
      await engine.change({ type: "statements", statements: [gone] })
    },
    rows: (table: string) => engine.query<Record<string, unknown>>(`SELECT * FROM ${table}`, []),
    async toolResults(id: string): Promise<string[]> {
      const { messages } = (await ada.get(`/api/conversations/${id}`)).body
      return (messages as { role: string; content: string }[])
        .filter(({ role }) => role === "tool")
        .map(({ content }) => content)
    },
    async [Symbol.asyncDispose]() {
      await two[Symbol.asyncDispose]()
      await one[Symbol.asyncDispose]()
    },
  }
}
