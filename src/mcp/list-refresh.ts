import type { Clock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import type { UserId } from "../protocol/ids.ts"
import type { McpPins } from "../protocol/ports/mcp.ts"
import type { McpConnection } from "./connection/connection.ts"
import type { McpServer } from "./definition/server.ts"
import { hashOf } from "./definition/tool-facts.ts"

/** How often one server is asked because it says that its list is another one, however often it says so. */
const EVERY_MS = 5000

/** The connection over which a server has said so, and whose that is. */
export interface ChangedList {
  readonly server: McpServer
  readonly user: UserId
  readonly connection: McpConnection
}

/**
 * Asks a server for its tools as soon as it says that they have changed, so that whoever looks sees it before anything is
 * called. It does not keep a connection open: that is for those who use it.
 */
export class ListRefresh {
  readonly #ports: { readonly pins: McpPins; readonly clock: Clock; readonly log: Log }
  /** Servers that were asked a moment ago, each with what it has said since. */
  readonly #resting = new Map<string, ChangedList | undefined>()

  constructor(ports: { readonly pins: McpPins; readonly clock: Clock; readonly log: Log }) {
    this.#ports = ports
  }

  changed(change: ChangedList): void {
    const { key } = change.server
    change.connection.forgetList()
    if (this.#resting.has(key)) return void this.#resting.set(key, change)
    this.#resting.set(key, undefined)
    this.#ports.clock.alarm(EVERY_MS, () => this.#rested(key), "background")
    void this.#ask(change)
  }

  #rested(key: string): void {
    const again = this.#resting.get(key)
    this.#resting.delete(key)
    if (again) this.changed(again)
  }

  async #ask({ server, user, connection }: ChangedList): Promise<void> {
    const { pins, log } = this.#ports
    try {
      // Nothing is known of one that nobody has used yet, or that is gone: its list is agreed to when somebody uses it.
      if (connection.isClosed || (await pins.read(server.key)).length === 0) return
      const tools = await connection.tools(new AbortController().signal)
      const seen = [...tools.values()].map((facts) => ({ hash: hashOf(facts), facts }))
      await pins.see(server.key, server.isPersons ? user : null, seen)
    } catch (error) {
      log.warn("mcp_server_failed", { server: server.name, error })
    }
  }
}
