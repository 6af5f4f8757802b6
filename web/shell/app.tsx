import { useEffect } from "react"
import { loadCatalogue } from "../state/catalogue.ts"
import { followFeed } from "../state/feed.ts"
import { findIdentity, presence } from "../state/identity.ts"
import { useStore } from "../state/store.ts"
import { Door } from "./door.tsx"
import { Shell } from "./shell.tsx"
import { Toasts } from "./toasts.tsx"

/** The page: the door for whoever is not in yet, everything else behind it. */
export function App() {
  const who = useStore(presence)
  const isIn = who.is === "signed-in"
  useEffect(() => {
    if (!isIn) return
    const leaving = new AbortController()
    void followFeed(leaving.signal)
    loadCatalogue().catch(() => {}) // without it there are no pickers; the feed says that the server is away
    return () => leaving.abort()
  }, [isIn])
  return (
    <>
      {who.is === "signed-in" && <Shell identity={who.identity} />}
      {who.is === "signed-out" && <Door />}
      {who.is === "unreachable" && <Door error={who.error} onRetry={() => void findIdentity()} />}
      <Toasts />
    </>
  )
}
