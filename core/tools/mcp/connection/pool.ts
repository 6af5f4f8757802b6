import type { Clock } from "../../../shared/time/clock.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpServer } from "../definition/server.ts"
import type { ConnectionOptions } from "./connect.ts"
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

/** Keeps connections open for a while. Each belongs to one person, because a server may remember what was sent over it. */
export class ConnectionPool implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>()
  /** Connections that get no new users; the last user closes them. */
  readonly #dropped = new Set<Entry>()
  readonly #options: ConnectionOptions
  readonly #clock: Clock
  readonly #listChanged: ListChanged

  constructor(options: ConnectionOptions, clock: Clock, listChanged: ListChanged) {
    this.#options = options
    this.#clock = clock
    this.#listChanged = listChanged
  }

  /** Runs `work` with a connection. A connection that failed is not reused. */
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

  /** Reuses or opens a connection. Counted as used at once, so that making room does not close it. */
  async #take(key: string, open: () => Entry): Promise<{ readonly entry: Entry; readonly isReused: boolean }> {
    for (;;) {
      const known = this.#entries.get(key)
      const entry = known ?? open()
      entry.users++
      entry.cancelAlarm?.()
      if (!known || !(await isOver(known))) return { entry, isReused: known !== undefined }
      this.#leave(key, entry)
      // If several find it closed, one opens the next and the others use that.
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

  #open(key: string, server: McpServer, opening: { readonly user: UserId; readonly signal: AbortSignal }): Entry {
    this.#makeRoom()
    const listChanged = (changed: McpConnection) =>
      this.#listChanged({ server, user: opening.user, connection: changed })
    const connection = McpConnection.open(server, this.#options, { clock: this.#clock, listChanged, ...opening })
    connection.catch(() => {}) // handled by the caller
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
    // Another call may be using it.
    if (entry.users === 0) this.#close(entry)
  }

  /** Remembered until it is closed, because a program may take a while to end and disposal must wait for it. */
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
