import type { QueryArrayResult } from "pg"
import { AppError, failure, type PostgresTarget } from "../../../core/pack.ts"
import type { DatabaseUse } from "../database/kind.ts"
import type { PostgresGuards, QueryLimits } from "../database/sql-guards.ts"
import { addressesOf, type HostRules } from "./hosts.ts"
import { type Backend, awaitBackendEnd } from "./backend.ts"
import { cutLink, type LinkOptions, type OpenClient, openLink } from "./link.ts"
import { openWithSameErrors } from "./unreachable.ts"
import { enclose } from "./transaction.ts"
import { problemOfPostgres, reasonOfRefusal } from "./problem.ts"

export interface SessionOptions {
  readonly hosts: HostRules
  readonly superuserConnections: boolean
  readonly limits: QueryLimits
  readonly guards: PostgresGuards
  /** Aborted when backends are no longer monitored. */
  readonly closing: AbortSignal
  /**
   * Receives a promise that resolves when the server has ended the work of a stopped query, which may be long after the
   * answer.
   */
  readonly keep?: (gone: Promise<void>) => void
}

/** At most this many addresses of a host name are tried. */
const MAX_ADDRESSES = 3
/** The bytes that may arrive in addition to the rows of a result. */
const OVERHEAD_BYTES = 512 * 1024

/** One transaction that only reads. */
export interface PostgresSession {
  readonly client: OpenClient
  /** The time zone of the session, for days and times. */
  readonly timeZone: string
  /**
   * Aborted at the time limit or when the caller stops waiting. The caller is answered then, and the connection is cut.
   */
  readonly over: AbortSignal
  /** Runs one statement of ours. */
  ask(text: string): Promise<QueryArrayResult<(string | null)[]>>
  /** Runs SQL that a user or a model wrote. */
  run(text: string): Promise<unknown>
}

/**
 * Opens a connection, does the work in a read-only transaction that is always rolled back, and closes the connection,
 * so that no session state outlives the query. At the time limit, or when the caller stops waiting, the caller is
 * answered immediately and the server is asked to stop, however long it takes.
 */
export async function withSession<T>(
  { target, signal, timeZone }: DatabaseUse<PostgresTarget>,
  options: SessionOptions,
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const { seconds, bytes } = options.limits
  const timeUp = AbortSignal.timeout(seconds * 1000)
  const over = AbortSignal.any([signal, timeUp])
  let cut: () => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => {
      cut()
      reject(over.reason as Error)
    }
    if (over.aborted) stop()
    else over.addEventListener("abort", stop, { once: true })
  })
  stopped.catch(() => {})
  const run = async () => {
    const link = { target, mostBytes: bytes + OVERHEAD_BYTES }
    const { client, options: opened } = await openAny(link, options.hosts, over)
    let backend: Backend | undefined
    let isCut = false
    cut = () => {
      if (isCut) return
      isCut = true
      const cancelled = cutLink(client, opened)
      options.keep?.(cancelled.then(() => backend && awaitBackendEnd(opened, backend, options.closing)))
    }
    if (over.aborted) cut()
    try {
      const asking = async (text: string) => {
        // The time limit may have passed while the caller did other work.
        over.throwIfAborted()
        return ask(client, text)
      }
      const enclosed = await enclose(asking, { ...options, timeZone })
      backend = enclosed.backend
      return await work({
        client,
        over,
        timeZone: enclosed.timeZone,
        ask: asking,
        run: (text) => (options.guards.oneStatement ? asking(text) : client.query(text)),
      })
    } finally {
      // If the connection was cut because of data that the server sent, the server may still be working.
      if (streamOf(client).destroyed) cut()
      else await leave(client)
    }
  }
  try {
    return await Promise.race([run(), stopped])
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (timeUp.aborted) throw failure("query_timeout", { seconds })
    throw error instanceof AppError ? error : problemOfPostgres(error, options.limits)
  }
}

interface Opened {
  readonly client: OpenClient
  readonly options: LinkOptions
}

/** The full reason of a failure is reported only for hosts that the operator permitted. */
async function openAny(link: Omit<LinkOptions, "address">, hosts: HostRules, over: AbortSignal): Promise<Opened> {
  const { target } = link
  const addresses = (await addressesOf(target.host, hosts)).slice(0, MAX_ADDRESSES)
  const open = () => openFirst({ ...link, shares: addresses.length }, addresses)
  const isTold = addresses.every((address) => hosts.isOperators(target.host, address))
  try {
    return await (isTold ? open() : openWithSameErrors(target, over, open))
  } catch (error) {
    throw error instanceof AppError ? error : failure("connection_failed", { problem: reasonOfRefusal(error, target) })
  }
}

/** Tries the addresses of a name, because the first may not answer. */
async function openFirst(link: Omit<LinkOptions, "address">, addresses: readonly string[]): Promise<Opened> {
  let last: unknown
  for (const address of addresses) {
    const options = { ...link, address }
    try {
      return { client: await openLink(options), options }
    } catch (error) {
      last = error
      if (!/^E[A-Z]+$/.test((error as { code?: string }).code ?? "")) break // the server answered with a refusal
    }
  }
  throw last
}

/** Uses the extended protocol, which accepts only one statement. */
function ask(client: OpenClient, text: string): Promise<QueryArrayResult<(string | null)[]>> {
  return client.query({ text, rowMode: "array", queryMode: "extended" } as never)
}

const streamOf = (client: OpenClient) =>
  (client.connection as unknown as { readonly stream: { destroy(): void; readonly destroyed: boolean } }).stream

async function leave(client: OpenClient): Promise<void> {
  const stream = streamOf(client)
  const given = setTimeout(() => stream.destroy(), 1000)
  // Rolled back before disconnecting, because a pooler may keep its connection to the server open.
  await ask(client, "ROLLBACK").catch(() => {})
  await client.end().catch(() => {})
  clearTimeout(given)
  stream.destroy()
}
