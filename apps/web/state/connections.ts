import { useEffect } from "react"
import { readPages } from "../../../client/index.ts"
import type { Page } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { noticeSignOut } from "./identity.ts"
import { Store, useStore } from "./store.ts"

export type ConnectionView = Awaited<ReturnType<typeof client.readConnection>>

interface Connections {
  /** Newest first; undefined until they are known. */
  readonly items: readonly ConnectionView[] | undefined
  /** Why they could not be read, until they can. */
  readonly problem: unknown
}

/** The databases that the person has connected: for the settings, and for whoever chooses one. */
const connections = new Store<Connections>({ items: undefined, problem: undefined })

/** Read when they are first shown; nobody tells of them, so each place that shows them asks once more. */
export function useConnections(isWanted = true): Connections {
  useEffect(() => {
    if (isWanted) void loadConnections()
  }, [isWanted])
  return useStore(connections)
}

export async function loadConnections(): Promise<void> {
  try {
    const items = await readPages<ConnectionView>(
      (query) => client.listConnections({ query }) as Promise<Page<ConnectionView>>,
    )
    connections.set({ items, problem: undefined })
  } catch (error) {
    noticeSignOut(error)
    connections.change({ problem: error })
  }
}

/** Where the server keeps the sample database, as a connection names it. */
const SAMPLE_PATH = "shared/sample-shop.db"

export const isSample = (connection: ConnectionView | undefined): boolean => connection?.path === SAMPLE_PATH

/** A database to ask at once: the person's connection to the sample, made where they have none. */
export async function connectSample(): Promise<ConnectionView> {
  const connection = await client.sampleConnection()
  await loadConnections()
  return connection
}

/** Where a connection leads, in a few words. */
export function whereOf({ kind, path, user, host, port, database }: ConnectionView): string {
  if (kind === "sqlite") return `SQLite, ${path ?? ""}`
  return `PostgreSQL, ${user ?? ""}@${host ?? ""}:${port ?? ""}/${database ?? ""}`
}
