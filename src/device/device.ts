import type { DatabaseSync } from "node:sqlite"
import { type ClientClock, sleepOrAbort, clientClock } from "../client/clock.ts"
import { failure } from "../protocol/errors.ts"
import { newId } from "../protocol/ids.ts"
import { catchUp } from "./catch-up.ts"
import { type Handlers, LocalCalls } from "./local-calls.ts"
import { LocalTables } from "./local-tables.ts"
import { LocalVectors } from "./local-vectors.ts"
import { openOwned } from "./open-database.ts"
import { type DeviceState, type ConnectOptions, stayConnected } from "./stay-connected.ts"
import { reads, writes } from "./workspace-actions.ts"

export interface DeviceOptions extends ConnectOptions {
  /** The SQLite file; made where there is none. */
  readonly db: string
  /** Who this device is; without one the file remembers a name that was made for it. */
  readonly deviceId?: string
  /** Tools beyond the workspace, by name. */
  readonly handlers?: Handlers
  /** Handlers that change nothing, by name: they run each time they are asked, and what they answer is not kept here. */
  readonly readers?: readonly string[]
  /** What else this device has beside "workspace", such as "files". */
  readonly offers?: readonly string[]
  /** No, for a device that is only there for its tools. */
  readonly workspace?: boolean
  /**
   * Whether notes that are written here by other ways than through the server are sent to it to be embedded, so that they
   * are found by meaning too; otherwise only what the assistant writes is. Yes, unless said.
   */
  readonly embedsNotes?: boolean
  readonly onState?: (state: DeviceState) => void
  /** What no answer can tell, such as a disk that fails. */
  readonly onProblem?: (problem: unknown) => void
  readonly clock?: ClientClock
}

export interface Device extends AsyncDisposable {
  readonly deviceId: string
  readonly state: DeviceState
  /** The person's own data, for the program that the device is part of. */
  readonly tables: LocalTables
  readonly vectors: LocalVectors
  /** Resolves when the device has ended, with the error where the server refused it. */
  readonly ended: Promise<Error | undefined>
  /** Hangs up, waits a moment for tools at work, and closes the file. */
  close(): Promise<void>
}

/** How long tools may take to stop once the device is closed. */
export const CLOSING_MS = 2500

/** Connects a file and some tools to a server, and stays connected until it is closed or refused. */
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

/** A name of its own for each file: a copy of the file is the same device. */
function rememberId(db: DatabaseSync): string {
  db.prepare(`INSERT INTO "pawlDevice" (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM "pawlDevice")`).run(
    newId("dev", null),
  )
  return (db.prepare(`SELECT id FROM "pawlDevice"`).get() as { id: string }).id
}
