import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { listeners } from "../state/feed.ts"
import { noticeSignOut } from "../state/identity.ts"
import { t } from "../strings/strings.ts"
import { Button } from "./button.tsx"

/** As much as the server sends on one page. */
const MAX_PAGE = 200
const PAGE = 50
/** How long to collect events of the feed before a list is read again. */
const GATHER_MS = 150

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

interface LoadedPages<Item> {
  readonly items: readonly Item[] | undefined
  readonly problem: unknown
  readonly reload: () => Promise<void>
  /** A button that loads older items; false if there are none. */
  readonly more: ReactNode
}

/**
 * Reads a list page by page, and again when the feed sends a frame for which `isStale` returns true. Then it reads as many
 * items as are shown, so that none disappears at the end when one is added at the start.
 */
export function usePages<Item>(
  read: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
  isStale: (frame: { readonly type: string; readonly data?: unknown }) => boolean,
): LoadedPages<Item> {
  const [items, setItems] = useState<readonly Item[]>()
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>()
  const length = useRef(PAGE)
  const latest = useRef({ read, isStale })
  useEffect(() => {
    latest.current = { read, isStale }
  })
  const load = useCallback(async (cursor?: string) => {
    try {
      const limit = cursor ? PAGE : Math.min(length.current, MAX_PAGE)
      const page = await latest.current.read({ limit, ...(cursor ? { cursor } : {}) })
      setItems((before = []) => {
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
    const onFrame = (frame: { readonly type: string; readonly data?: unknown }) => {
      if (!latest.current.isStale(frame)) return
      clearTimeout(timer)
      timer = setTimeout(() => void load(), GATHER_MS)
    }
    listeners.add(onFrame)
    void load()
    return () => {
      clearTimeout(timer)
      listeners.delete(onFrame)
    }
  }, [load])
  const more = next !== null && (
    <Button look="quiet" onClick={() => void load(next)}>
      {t("shell.showOlder")}
    </Button>
  )
  return { items, problem, reload: () => load(), more }
}
