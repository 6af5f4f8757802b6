import { useEffect } from "react"
import type { Page } from "../../src/protocol/index.ts"
import { readPages } from "./read-pages.ts"
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
