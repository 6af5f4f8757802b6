import { useEffect } from "react"
import { keepCatalogue } from "../state/catalogue.ts"
import { followFeed } from "../state/feed.ts"
import { findIdentity, presence } from "../state/identity.ts"
import { resumeOutbox } from "../state/outbox.ts"
import { useStore } from "../state/store.ts"
import { Door } from "./door.tsx"
import { useDrops } from "./drops.ts"
import type { Page } from "./page.ts"
import { Shell } from "./shell.tsx"
import { Toasts } from "./toasts.tsx"

/** The page: the door for whoever is not in yet, everything else behind it. */
export function App({ pages }: { readonly pages: readonly Page[] }) {
  const who = useStore(presence)
  const isIn = who.is === "signed-in"
  useDrops()
  useEffect(() => {
    if (!isIn) return
    const leaving = new AbortController()
    void followFeed(leaving.signal)
    keepCatalogue(leaving.signal)
    resumeOutbox()
    return () => leaving.abort()
  }, [isIn])
  return (
    <div className="flex h-full flex-col">
      <div className="min-h-0 flex-1 overflow-y-auto">
        {who.is === "signed-in" && <Shell identity={who.identity} pages={pages} />}
        {who.is === "signed-out" && <Door why={who.why} />}
        {who.is === "unreachable" && <Door error={who.error} onRetry={() => void findIdentity()} />}
      </div>
      <Toasts />
    </div>
  )
}
