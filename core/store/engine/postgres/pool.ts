import { Socket } from "node:net"
import { Pool, type PoolClient, types } from "pg"
import { type DatabaseTimeouts, DEFAULT_TIMEOUTS } from "../engine.ts"
import { isUnreachable, storeUnreachable } from "../store-failure.ts"

export interface PoolSettings {
  readonly url: string
  readonly connections: number
  /** Command-line options of each session. */
  readonly options?: string | undefined
  readonly waits?: DatabaseTimeouts | undefined
}

/** How long the database may be silent: `long` is for work that depends on the amount of data, such as a migration. */
export type PoolSilenceLimit = "usual" | "long"

const LONG_SILENCE_MS = 60 * 60_000
/** The timeout while the process ends. */
const CLOSING_MS = 3000
/** Below 1, so that an idle connection is closed properly before its timeout. */
const IDLE_SHARE = 0.8
/** The operating system probes an idle connection after this, and closes it after ten failed probes. */
const PROBE_AFTER_MS = 5000

// Our integers (milliseconds, positions, counts) are far below 2^53, so they are parsed as numbers.
const parsers = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as "text"),
}

/**
 * A connection pool with a timeout for silence. A connection without an answer for too long is closed and its query
 * rejects: after a failover nothing else would close it. The driver's own `query_timeout` only rejects the query and
 * returns a connection whose answer is still to come. The limit is on silence, not on the query, so rows may arrive for
 * as long as it takes.
 */
export class PostgresPool {
  readonly #pool: Pool
  readonly #clients = new Map<PoolClient, PoolSilenceLimit>()
  /** Connections with a query. */
  readonly #inUse = new Set<PoolClient>()
  /** Also sockets that are still connecting, which the driver would wait for. */
  readonly #sockets = new Set<Socket>()
  /** Rejects the callers that wait for a connection. */
  readonly #waiting = new Set<(error: Error) => void>()
  readonly #silence: Record<PoolSilenceLimit, number>
  #isClosing = false
  #isAbandoned = false

  constructor({ url, connections, options, waits = DEFAULT_TIMEOUTS }: PoolSettings) {
    this.#silence = { usual: waits.silence, long: LONG_SILENCE_MS }
    this.#pool = new Pool({
      allowExitOnIdle: true, // an open store does not keep an idle process alive
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: waits.connect,
      idleTimeoutMillis: waits.silence * IDLE_SHARE,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS, // the system's default is two hours
      types: parsers as never,
      options,
      stream: () => this.#newSocket(),
    })
    this.#pool.on("error", () => {}) // a connection that fails while idle is replaced by the next query
    this.#pool.on("connect", (client) => {
      // The same during a query, which rejects. An unhandled `error` event would end the process.
      client.on("error", () => {}).once("end", () => this.#clients.delete(client))
      socketOf(client).on("timeout", () => this.#closeSilent(client))
      this.#setTimeout(client, "usual")
    })
  }

  /** Lends a connection. It is not reused if its error suggests that the server is unreachable. */
  async use<T>(work: (client: PoolClient) => Promise<T>, patience: PoolSilenceLimit = "usual"): Promise<T> {
    const client = await this.#connect()
    this.#inUse.add(client)
    if (patience !== "usual") this.#setTimeout(client, patience)
    let failed: unknown
    try {
      return await work(client)
    } catch (error) {
      failed = error
      throw error
    } finally {
      if (patience !== "usual") this.#setTimeout(client, "usual")
      this.#inUse.delete(client)
      client.release(failed !== undefined && isUnreachable(failed))
    }
  }

  /** Shortens all timeouts to seconds. */
  hurry(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#pool.options.connectionTimeoutMillis = CLOSING_MS
    for (const [client, patience] of this.#clients) this.#setTimeout(client, patience)
    const waiting = [...this.#waiting]
    setTimeout(() => waiting.some((each) => this.#waiting.has(each)) && this.#abandon(), CLOSING_MS).unref()
  }

  /** Resolves when running queries have ended or timed out. */
  close(): Promise<void> {
    this.hurry()
    return this.#pool.end()
  }

  #connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      if (this.#isAbandoned) return reject(storeUnreachable(new Error("given up")))
      this.#waiting.add(reject)
      this.#pool.connect().then(
        (client) => {
          // If the caller has been rejected, the connection is not needed.
          if (this.#waiting.delete(reject)) resolve(client)
          else client.release(true)
        },
        (error: unknown) => {
          this.#waiting.delete(reject)
          if (this.#isClosing) this.#abandon()
          // Any failure to connect, also a missing role, is the server's fault and not the request's.
          reject(storeUnreachable(error))
        },
      )
    })
  }

  #newSocket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once("close", () => this.#sockets.delete(socket))
  }

  #setTimeout(client: PoolClient, patience: PoolSilenceLimit): void {
    this.#clients.set(client, patience)
    socketOf(client).setTimeout(this.#isClosing ? CLOSING_MS : this.#silence[patience])
  }

  #closeSilent(client: PoolClient): void {
    // Its query rejects with this error, and may have been executed, as with any lost answer.
    socketOf(client).destroy(Object.assign(new Error("the database says nothing"), { code: "ETIMEDOUT" }))
    // An idle connection is expected to be silent.
    if (this.#isClosing && this.#inUse.has(client)) this.#abandon()
  }

  #abandon(): void {
    this.#isAbandoned = true
    for (const socket of this.#sockets) socket.destroy()
    for (const rejectCaller of this.#waiting) rejectCaller(storeUnreachable(new Error("given up")))
    this.#waiting.clear()
  }
}

/** Missing in the driver's types. With TLS it is the encrypted socket, which exists when the driver emits `connect`. */
const socketOf = (client: PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
