import { useCallback, useEffect, useRef, useState } from "react"
import type { AuditEntry } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { listeners } from "../state/feed.ts"
import { noticeSignOut } from "../state/identity.ts"
import { AuditRow } from "./audit-row.tsx"

const PAGE = 50
/** How long to gather what the feed tells before looking again. */
const GATHER_MS = 150

/** Every change that was made by an assistant, newest first, and the way to take one back. */
export function AuditPage() {
  const [entries, setEntries] = useState<readonly AuditEntry[]>()
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>()
  const length = useRef(PAGE)

  const load = useCallback(async (cursor?: string) => {
    try {
      // As many as are shown, so that what is below does not vanish when something is added above.
      const limit = cursor ? PAGE : Math.min(length.current, 200)
      const page = await client.listAudit({ query: { limit, ...(cursor ? { cursor } : {}) } })
      setEntries((before = []) => {
        const all = cursor ? [...before, ...page.items] : page.items
        length.current = Math.max(PAGE, all.length)
        return all
      })
      setNext(page.nextCursor)
      setProblem(undefined)
    } catch (error) {
      noticeSignOut(error)
      setProblem(error)
    }
  }, [])

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const hear = ({ type }: { readonly type: string }) => {
      if (type !== "snapshot" && type !== "conversation") return
      clearTimeout(timer)
      timer = setTimeout(() => void load(), GATHER_MS)
    }
    listeners.add(hear)
    void load()
    return () => {
      clearTimeout(timer)
      listeners.delete(hear)
    }
  }, [load])

  return (
    <>
      <PageHeader title="What was done" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-3 pb-8 md:px-6">
          <Trouble problem={problem} onRetry={load} />
          {entries?.length === 0 && (
            <div className="pt-[20vh] text-center">
              <h2 className="mb-2 font-serif text-2xl">Nothing was done yet</h2>
              <p className="text-soft">
                Every change that an assistant has made for you will be listed here. What you do by hand is not.
              </p>
            </div>
          )}
          <ul>
            {entries?.map((entry) => (
              <AuditRow key={entry.id} entry={entry} />
            ))}
          </ul>
          {next !== null && (
            <Button look="quiet" onClick={() => void load(next)}>
              Show older ones
            </Button>
          )}
        </div>
      </div>
    </>
  )
}
