import { useEffect, useRef } from "react"
import { isFrame } from "../../src/client/index.ts"
import { listeners } from "../state/feed.ts"

/** Where nothing is told, such as of what another process has begun with, one looks so often while something is read in. */
const LOOK_AGAIN_MS = 5000

/** Looks whenever the feed tells how far documents are, and now and then while there are some that are not ready. */
export function useIngests(isBusy: boolean, look: () => Promise<unknown>): void {
  const latest = useRef(look)
  useEffect(() => {
    latest.current = look
  })
  useEffect(() => {
    const hear = (frame: Parameters<typeof isFrame>[0]) => {
      if (isFrame(frame, "ingest")) void latest.current()
    }
    listeners.add(hear)
    return () => void listeners.delete(hear)
  }, [])
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(() => void latest.current(), LOOK_AGAIN_MS)
    return () => clearInterval(timer)
  }, [isBusy])
}
