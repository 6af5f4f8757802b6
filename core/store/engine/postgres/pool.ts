import { Socket } from "node:net"
import { Pool, type PoolClient, types } from "pg"
import { type DatabaseWaits, WAITS } from "../database-waits.ts"
import { isAway, storeAway } from "../store-failure.ts"

export interface PoolSettings {
  readonly url: string
  readonly connections: number
  /** Of each session, in the words of the server's command line. */
  readonly options?: string | undefined
  readonly waits?: DatabaseWaits | undefined
}

/** How long the database may say nothing: `long` is for work whose length is that of the data, such as a migration. */
export type Patience = "usual" | "long"

const LONG_SILENCE_MS = 60 * 60_000
/** The same once the process goes down: whoever stops it waits. */
const HURRIED_MS = 3000
/** Shorter than the silence that is borne, so that a connection that nobody needs is closed in good order. */
const IDLE_SHARE = 0.8
/** A machine that is gone acknowledges nothing: after this, and ten probes a second apart, the system cuts its connections. */
const PROBE_AFTER_MS = 5000

// Our integers are milliseconds, positions and counts: all far below 2^53, so numbers and not strings.
const parsers = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as "text"),
}

/**
 * The connections of the store. One on which nothing is heard for too long is cut, and what it was asked rejects: after a
 * failover nobody resets it, and it would be waited for, by its query and by whoever comes next, for ever. The driver's own
 * `query_timeout` is of no use here: it rejects the query, and leaves its connection, with the answer still to come, to
 * whoever releases it. The bound is on silence and not on the query, so that rows may come for as long as they come.
 */
export class PostgresPool {
  readonly #pool: Pool
  readonly #clients = new Map<PoolClient, Patience>()
  /** Those that are asked something now. */
  readonly #lent = new Set<PoolClient>()
  /** Also of those that are still being connected, which the driver would wait for. */
  readonly #sockets = new Set<Socket>()
  /** Whoever waits for a connection, as what tells them that there will be none. */
  readonly #waiting = new Set<(error: Error) => void>()
  readonly #silence: Record<Patience, number>
  #hurried = false
  #givenUp = false

  constructor({ url, connections, options, waits = WAITS }: PoolSettings) {
    this.#silence = { usual: waits.silence, long: LONG_SILENCE_MS }
    this.#pool = new Pool({
      allowExitOnIdle: true, // an open store keeps no process alive that has nothing else to do
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: waits.connect,
      idleTimeoutMillis: waits.silence * IDLE_SHARE,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS, // without it the system's own, which is two hours
      types: parsers as never,
      options,
      stream: () => this.#newSocket(),
    })
    this.#pool.on("error", () => {}) // a connection that dies while idle is replaced by the next query
    this.#pool.on("connect", (client) => {
      // The same while it is at work: its query rejects, and an `error` that nobody listens to would end the process.
      client.on("error", () => {}).once("end", () => this.#clients.delete(client))
      socketOf(client).on("timeout", () => this.#cut(client))
      this.#bear(client, "usual")
    })
  }

  /** Lends a connection. One that failed in a way that says nothing good about its other end is not used again. */
  async use<T>(work: (client: PoolClient) => Promise<T>, patience: Patience = "usual"): Promise<T> {
    const client = await this.#connect()
    this.#lent.add(client)
    if (patience !== "usual") this.#bear(client, patience)
    let failed: unknown
    try {
      return await work(client)
    } catch (error) {
      failed = error
      throw error
    } finally {
      if (patience !== "usual") this.#bear(client, "usual")
      this.#lent.delete(client)
      client.release(failed !== undefined && isAway(failed))
    }
  }

  /** From now on the database has seconds to answer; where it does not, nothing waits for it any more. */
  hurry(): void {
    if (this.#hurried) return
    this.#hurried = true
    this.#pool.options.connectionTimeoutMillis = HURRIED_MS
    for (const [client, patience] of this.#clients) this.#bear(client, patience)
    const waiting = [...this.#waiting]
    setTimeout(() => waiting.some((each) => this.#waiting.has(each)) && this.#giveUp(), HURRIED_MS).unref()
  }

  /** Resolves when what is at work is done, or has been waited for long enough. */
  close(): Promise<void> {
    this.hurry()
    return this.#pool.end()
  }

  #connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      if (this.#givenUp) return reject(storeAway(new Error("given up")))
      this.#waiting.add(reject)
      this.#pool.connect().then(
        (client) => {
          // Nobody waits for it any more where it comes too late.
          if (this.#waiting.delete(reject)) resolve(client)
          else client.release(true)
        },
        (error: unknown) => {
          this.#waiting.delete(reject)
          if (this.#hurried) this.#giveUp()
          // Whatever kept us from coming in, also a role that is not there yet, is no fault of the request.
          reject(storeAway(error))
        },
      )
    })
  }

  #newSocket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once("close", () => this.#sockets.delete(socket))
  }

  #bear(client: PoolClient, patience: Patience): void {
    this.#clients.set(client, patience)
    socketOf(client).setTimeout(this.#hurried ? HURRIED_MS : this.#silence[patience])
  }

  #cut(client: PoolClient): void {
    // Its query, if it has one, rejects with this, and may have been done all the same, as with any answer that is lost.
    socketOf(client).destroy(Object.assign(new Error("the database says nothing"), { code: "ETIMEDOUT" }))
    // An idle connection is silent because it was asked nothing.
    if (this.#hurried && this.#lent.has(client)) this.#giveUp()
  }

  #giveUp(): void {
    this.#givenUp = true
    for (const socket of this.#sockets) socket.destroy()
    for (const tell of this.#waiting) tell(storeAway(new Error("given up")))
    this.#waiting.clear()
  }
}

/** The driver's types leave it out. With TLS it is the encrypted one, which is there when the driver says `connect`. */
const socketOf = (client: PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
