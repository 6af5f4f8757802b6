import { connect as connectTcp, Socket } from "node:net"
import type { Client, Connection } from "pg"
import type { PostgresTarget } from "../../../core/pack.ts"
import { MessageFilter } from "./messages.ts"

/** Members of the driver that its types lack. */
export type OpenClient = Client & {
  readonly connection: Connection
  readonly processID: number | null
  readonly secretKey: number | null
  readonly connectionParameters: object
}

const CONNECT_MS = 5000
const CANCEL_MS = 1500

export interface LinkOptions {
  readonly target: PostgresTarget
  /** The checked address. */
  readonly address: string
  /** The most bytes that may arrive. Then the connection is cut. */
  readonly mostBytes: number
  /** The number of addresses that share the time for connecting. */
  readonly shares?: number
}

/**
 * Opens a connection to one address. All options are set explicitly, because the driver reads missing ones from the
 * environment (PGPASSWORD, PGSSLMODE, PGOPTIONS), from `~/.pgpass`, or from files that a URL names.
 */
export async function openLink({ target, address, mostBytes, shares = 1 }: LinkOptions): Promise<OpenClient> {
  const { default: pg } = await import("pg")
  const { host, port, database, user, password, ssl } = target
  const socket = new Socket()
  const client = new pg.Client({
    host: address,
    port,
    database,
    user,
    // A function even if it is empty, because the driver would look for another password in place of an empty one.
    password: () => password,
    ssl: ssl === false ? false : { rejectUnauthorized: ssl === true, host, servername: isName(host) ? host : "" },
    application_name: "pawl",
    connectionTimeoutMillis: Math.floor(CONNECT_MS / Math.max(1, shares)),
    sslnegotiation: "postgres",
    keepAlive: false,
    stream: () => socket,
    types: { getTypeParser: () => String },
  } as never) as OpenClient
  Object.assign(client.connectionParameters, { options: undefined, replication: undefined })
  client.on("error", () => {}) // the running query fails, too
  if (ssl === false) hold(socket, mostBytes)
  client.connection.on("sslconnect" as never, () => {
    hold((client.connection as unknown as { stream: Socket }).stream, mostBytes)
  })
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }
  return client
}

/**
 * Filters the server's messages, because malformed ones make the driver throw outside of any call and end this process.
 */
function hold(stream: Socket, mostBytes: number): void {
  const filter = new MessageFilter(mostBytes)
  const emit = stream.emit.bind(stream) as (event: string, ...rest: unknown[]) => boolean
  stream.emit = (event: string, ...rest: unknown[]): boolean => {
    try {
      if (event !== "data") return emit(event, ...rest)
      const messages = stream.destroyed ? undefined : filter.take(rest[0] as Buffer)
      return messages === undefined || emit("data", messages)
    } catch (error) {
      stream.destroy(error as Error)
      return true
    }
  }
}

const isName = (host: string) => !/^[\d.]+$|:/.test(host)

/**
 * Closes a connection, then asks the server to cancel its work. The socket is destroyed before anything is awaited: the
 * caller is informed that the query ended, so no further message, such as a COMMIT, may be sent.
 */
export async function cutLink(client: OpenClient, { target: { port }, address }: LinkOptions): Promise<void> {
  const { processID, secretKey } = client
  const { stream } = client.connection as unknown as { stream: Socket }
  stream.destroy()
  if (processID !== null && secretKey !== null) await requestCancel({ address, port }, processID, secretKey)
}

/**
 * Sends the protocol's cancel request: sixteen bytes on a second connection to the same address. It needs no password.
 */
function requestCancel(where: { address: string; port: number }, process: number, secret: number): Promise<void> {
  const request = Buffer.alloc(16)
  for (const [index, number] of [16, 80_877_102, process, secret].entries()) request.writeInt32BE(number, index * 4)
  return new Promise((resolve) => {
    const socket = connectTcp(where.port, where.address, () => socket.end(request))
    // Limits the total time, because a server could keep sending data.
    const given = setTimeout(() => socket.destroy(), CANCEL_MS)
    socket.on("error", () => {}) // the server notices the lost connection by itself
    socket.on("close", () => {
      clearTimeout(given)
      resolve()
    })
    socket.resume()
  })
}
