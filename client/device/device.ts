import type { DatabaseSync } from "node:sqlite"
import { failure } from "../../core/protocol/errors.ts"
import { newId } from "../../core/protocol/ids.ts"
import { MAX_EMBEDDED_CHARACTERS } from "../../core/protocol/routes/library.ts"
import { textOfNote } from "../../core/shared/text/text.ts"
import { createClient } from "../client.ts"
import { type ClientClock, clientClock, sleepOrAbort } from "../clock.ts"
import { type Handlers, LocalCalls } from "./local-calls.ts"
import { LocalTables } from "./local-tables.ts"
import { LocalVectors } from "./local-vectors.ts"
import { openOwned } from "./open-database.ts"
import { type ConnectOptions, type DeviceState, stayConnected } from "./stay-connected.ts"
import { reads, writes } from "./workspace-actions.ts"

/** Options of `openDevice`: the SQLite file, the tools, and how to connect to the server. */
export interface DeviceOptions extends ConnectOptions {
  /** The SQLite file. It is created if it does not exist. */
  readonly db: string
  /** The id of this device. Default: an id that is generated once and stored in the file. */
  readonly deviceId?: string
  /** Further tools, by name. */
  readonly handlers?: Handlers
  /**
   * The names of handlers that change nothing. They run at each call, and their results are not stored in the ledger.
   */
  readonly readers?: readonly string[]
  /** Further features of this device besides "workspace", such as "files". */
  readonly offers?: readonly string[]
  /** Whether the device has a workspace. Default: true. Set it to false for a device that only offers tools. */
  readonly workspace?: boolean
  /**
   * Whether notes that other programs write to the file are sent to the server to be embedded, so that semantic search
   * finds them. Default: true. Otherwise only notes that the assistant writes are embedded.
   */
  readonly embedsNotes?: boolean
  readonly onState?: (state: DeviceState) => void
  /** Reports problems that no answer can contain, such as a failing disk. */
  readonly onProblem?: (problem: unknown) => void
  readonly clock?: ClientClock
}

/** An open device: its local data, and its connection to the server. */
export interface Device extends AsyncDisposable {
  readonly deviceId: string
  readonly state: DeviceState
  /** The user's data, for the program that the device is part of. */
  readonly tables: LocalTables
  readonly vectors: LocalVectors
  /** Resolves when the device has stopped, with an error if the server rejected it. */
  readonly ended: Promise<Error | undefined>
  /** Disconnects, waits briefly for running tools, and closes the file. */
  close(): Promise<void>
}

/** How long tools may take to stop after the device is closed. */
export const CLOSING_MS = 2500

/**
 * Connects a device (its local SQLite file and its tools) to a server, and reconnects until the device is closed or
 * the server rejects it. Throws if a tool has the name of a workspace action, or if the file cannot be opened.
 */
export function openDevice(options: DeviceOptions): Device {
  const { clock = clientClock, handlers = {} } = options
  const taken = Object.keys(handlers).find((name) => name in reads || name in writes)
  if (taken)
    throw failure("bad_request", { problem: `"${taken}" is an action of the workspace; name the tool otherwise.` })
  const { db, close: closeFile } = openOwned(options.db)
  const closing = new AbortController()
  const now = () => clock.now()
  const workspace = { tables: new LocalTables(db, now), vectors: new LocalVectors(db) }
  const { readers, onProblem = () => {} } = options
  const calls = new LocalCalls({ db, now, handlers, readers, signal: closing.signal, onProblem, ...workspace })
  const deviceId = options.deviceId ?? rememberId(db)
  let state: DeviceState = { state: "connecting" }
  let tellConnected = () => {}
  const show = (next: DeviceState) => {
    state = next
    if (next.state === "connected") tellConnected()
    options.onState?.(next)
  }
  const isConnected = () => state.state === "connected"
  const onceConnected = (tell: () => void) => void (tellConnected = tell)
  const catching = { reach: options, vectors: workspace.vectors, clock, signal: closing.signal }
  const caughtUp =
    options.embedsNotes === false ? Promise.resolve() : catchUp({ ...catching, isConnected, onceConnected })
  const ended = stayConnected({
    reach: options,
    hello: {
      deviceId,
      offers: [...(options.workspace === false ? [] : ["workspace"]), ...(options.offers ?? [])],
    },
    calls,
    clock,
    signal: closing.signal,
    onState: show,
    onProblem,
  }).then(async (error) => {
    closing.abort()
    const late = new AbortController()
    await Promise.race([calls.rest(), sleepOrAbort(clock, CLOSING_MS, late.signal).catch(() => {})])
    late.abort()
    await caughtUp // it uses the file
    closeFile()
    show({ state: "ended", ...(error ? { error } : {}) })
    return error
  })
  const close = async () => {
    closing.abort()
    await ended
  }
  return {
    deviceId,
    ...workspace,
    ended,
    close,
    [Symbol.asyncDispose]: close,
    get state() {
      return state
    },
  }
}

/** The id is stored in the file, so that a copy of the file is the same device. */
function rememberId(db: DatabaseSync): string {
  db.prepare(`INSERT INTO "pawlDevice" (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM "pawlDevice")`).run(
    newId("dev", null),
  )
  return (db.prepare(`SELECT id FROM "pawlDevice"`).get() as { id: string }).id
}

interface CatchingUp {
  readonly reach: ConnectOptions
  readonly vectors: LocalVectors
  readonly clock: ClientClock
  /** Aborts when the device is closed. */
  readonly signal: AbortSignal
  isConnected(): boolean
  /** Calls back, once, when the device has connected. */
  onceConnected(tell: () => void): void
}

/** How often the device searches for notes that were not edited through the server. */
export const LOOK_EVERY_MS = 15_000
/** The time limit for embedding one text; it is retried later. */
const LONGEST_MS = 60_000
const AT_A_TIME = 20

/**
 * Embeds notes that other programs wrote, while connected. Outdated notes are found by a query, so none is lost. Failures
 * are retried in the next round.
 */
async function catchUp(catching: CatchingUp): Promise<void> {
  const { clock, signal } = catching
  while (!signal.aborted) {
    const connected = new AbortController()
    catching.onceConnected(() => connected.abort())
    const stirred = AbortSignal.any([signal, connected.signal])
    if (catching.isConnected()) {
      await embedStale(catching).catch(() => {}) // the connection reports its own problems
      await sleepOrAbort(clock, LOOK_EVERY_MS, stirred).catch(() => {})
    } else {
      // Without a server there is nothing to do: wait for the connection.
      await new Promise((resolve) => stirred.addEventListener("abort", resolve, { once: true }))
    }
  }
}

async function embedStale({ reach, vectors, clock, signal, isConnected }: CatchingUp): Promise<void> {
  const { server, token, fetch } = reach
  const client = createClient({ baseUrl: server, token, clock, ...(fetch ? { fetch } : {}) })
  /** A note that is outdated again right after its turn changes too often; it is left for the next round. */
  const seen = new Set<string>()
  for (;;) {
    const stale = vectors.stale(AT_A_TIME + seen.size).filter(({ id }) => !seen.has(id))
    if (stale.length === 0) return
    for (const note of stale) {
      if (signal.aborted || !isConnected()) return
      seen.add(note.id)
      const text = textOfNote(note).slice(0, MAX_EMBEDDED_CHARACTERS).toWellFormed().replaceAll("\0", " ")
      if (text.trim() === "") continue
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)])
      const { vector } = await client.embedText({ body: { text }, signal: inTime })
      if (signal.aborted) return
      const { id, projectId, content } = note
      vectors.upsert({ id, projectId, content }, vector)
    }
  }
}
