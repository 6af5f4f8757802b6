import type { Clock } from "../../../shared/time/clock.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpServer } from "../definition/server.ts"
import type { Ways } from "./connect.ts"
import { McpConnection } from "./connection.ts"

const IDLE_MS = 5 * 60_000
const MAX_OPEN = 64

interface Entry {
  readonly connection: Promise<McpConnection>
  users: number
  usedAt: number
  cancelAlarm: (() => void) | undefined
}

type ListChanged = (change: {
  readonly server: McpServer
  readonly user: UserId
  readonly connection: McpConnection
}) => void

/**
 * Connections that are kept a while after their use. Each is one person's: a server may remember what was said over it,
 * and what it remembers of one it must not tell another.
 */
export class ConnectionPool implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>()
  /** Those that nobody gets any more, until they are closed: the last who uses one closes it. */
  readonly #dropped = new Set<Entry>()
  readonly #ways: Ways
  readonly #clock: Clock
  readonly #listChanged: ListChanged

  constructor(ways: Ways, clock: Clock, listChanged: ListChanged) {
    this.#ways = ways
    this.#clock = clock
    this.#listChanged = listChanged
  }

  /** Works with a connection. One that failed in it is not used again. */
  async use<T>(
    { server, user, signal }: { readonly server: McpServer; readonly user: UserId; readonly signal: AbortSignal },
    work: (connection: McpConnection, isReused: boolean) => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify([server.key, server.version, user])
    const { entry, isReused } = await this.#take(key, () => this.#open(key, server, { user, signal }))
    try {
      return await work(await entry.connection, isReused)
    } catch (error) {
      if (await isOver(entry)) this.#drop(key, entry)
      throw error
    } finally {
      this.#leave(key, entry)
    }
  }

  /** One that is there, or a new one. Used from the first moment on: meanwhile nobody makes room by closing it. */
  async #take(key: string, open: () => Entry): Promise<{ readonly entry: Entry; readonly isReused: boolean }> {
    for (;;) {
      const known = this.#entries.get(key)
      const entry = known ?? open()
      entry.users++
      entry.cancelAlarm?.()
      if (!known || !(await isOver(known))) return { entry, isReused: known !== undefined }
      this.#leave(key, entry)
      // Of several who find it closed one opens the next, and the others use that.
      this.#drop(key, entry)
    }
  }

  #leave(key: string, entry: Entry): void {
    entry.users--
    entry.usedAt = this.#clock.now()
    if (entry.users > 0) return
    if (this.#dropped.has(entry)) this.#close(entry)
    else entry.cancelAlarm = this.#clock.alarm(IDLE_MS, () => this.#drop(key, entry), "background")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const entries = [...this.#entries.values(), ...this.#dropped]
    this.#entries.clear()
    await Promise.all(entries.map(close))
  }

  #open(key: string, server: McpServer, given: { readonly user: UserId; readonly signal: AbortSignal }): Entry {
    this.#makeRoom()
    const listChanged = (changed: McpConnection) => this.#listChanged({ server, user: given.user, connection: changed })
    const connection = McpConnection.open(server, this.#ways, { clock: this.#clock, listChanged, ...given })
    connection.catch(() => {}) // met by whoever waits for it
    const entry: Entry = { connection, users: 0, usedAt: this.#clock.now(), cancelAlarm: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  #makeRoom(): void {
    if (this.#entries.size < MAX_OPEN) return
    const idle = [...this.#entries].filter(([, { users }]) => users === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    for (const [key, entry] of idle.slice(0, 1)) this.#drop(key, entry)
  }

  #drop(key: string, entry: Entry): void {
    entry.cancelAlarm?.()
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    this.#dropped.add(entry)
    // Somebody else may be in the middle of a call over it.
    if (entry.users === 0) this.#close(entry)
  }

  /** Meanwhile it is remembered: a program that does not end by itself is ended a while later, which the end of all waits for. */
  #close(entry: Entry): void {
    void close(entry).then(() => this.#dropped.delete(entry))
  }
}

const isOver = ({ connection }: Entry): Promise<boolean> =>
  connection.then(
    ({ isClosed, hangs }) => isClosed || hangs,
    () => true,
  )

const close = ({ connection }: Entry): Promise<void> =>
  connection.then(
    (each) => each.close(),
    () => {},
  )
