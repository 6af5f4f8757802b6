import { useEffect, useState } from "react"
import { attempt } from "../parts/explain.ts"
import { feed, searchTitles } from "../state/feed.ts"
import { useStore } from "../state/store.ts"

/** Whoever types faster than this asks once. */
const PAUSE_MS = 200

type Outcome = "searching" | "all" | "newest only"

/** Looks on the server for titles with these words among conversations that are not listed yet, and lists them. */
export function useTitleSearch(words: string): Outcome {
  const { next } = useStore(feed)
  const [ended, setEnded] = useState<{ readonly words: string; readonly outcome: Outcome }>()
  const hasAll = words === "" || next === null
  useEffect(() => {
    if (hasAll) return
    const stop = new AbortController()
    const search = async () => {
      const all = await searchTitles(words, stop.signal)
      setEnded({ words, outcome: all ? "all" : "newest only" })
    }
    const unlessStopped = (error: unknown) => {
      if (!stop.signal.aborted) throw error
    }
    const timer = setTimeout(() => {
      void attempt(() => search().catch(unlessStopped)).then((worked) => {
        if (!worked) setEnded({ words, outcome: "newest only" })
      })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [words, hasAll])
  return hasAll ? "all" : ended?.words === words ? ended.outcome : "searching"
}
