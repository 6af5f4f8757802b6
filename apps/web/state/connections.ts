import { useEffect } from "react"
import { readPages } from "../../../client/index.ts"
import type { Page } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { noticeSignOut } from "./identity.ts"
import { Store, useStore } from "./store.ts"

export type ConnectionView = Awaited<ReturnType<typeof client.readConnection>>

interface Connections {
  /** Newest first; undefined until they are read. */
  readonly items: readonly ConnectionView[] | undefined
  /** The error of the last read. */
  readonly problem: unknown
}

/** The databases that the person has connected. */
const connections = new Store<Connections>({ items: undefined, problem: undefined })

/** Read when they are first shown; there are no events about them, so each component reads again. */
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

/** The path of the sample database in a connection. */
const SAMPLE_PATH = "shared/sample-shop.db"

export const isSample = (connection: ConnectionView | undefined): boolean => connection?.path === SAMPLE_PATH

/** Returns the person's connection to the sample database, and creates it if there is none. */
export async function connectSample(): Promise<ConnectionView> {
  const connection = await client.sampleConnection()
  await loadConnections()
  return connection
}

/** The target of a connection in short. */
export function whereOf({ kind, path, user, host, port, database }: ConnectionView): string {
  if (kind === "sqlite") return `SQLite, ${path ?? ""}`
  return `PostgreSQL, ${user ?? ""}@${host ?? ""}:${port ?? ""}/${database ?? ""}`
}
