import { type ReactNode, useEffect, useRef, useState } from "react"
import { count } from "../../parts/words.ts"
import type { ChosenFiles } from "./files.tsx"

type When = "queue" | "steer"

interface Sending {
  readonly send: (when: When) => void
  /** What sending waits for, above the words. */
  readonly note: ReactNode
}

/** Sends when the files of the message have arrived: at once where they have, and otherwise as soon as that is so. */
export function useSend(files: ChosenFiles, isReady: boolean, onSend: (when: When) => void): Sending {
  const { underWay, hasFailed } = files
  const [waiting, setWaiting] = useState<When>()
  const [isRefused, setRefused] = useState(false)
  const latest = useRef(onSend)
  useEffect(() => {
    latest.current = onSend
  })
  useEffect(() => {
    if (waiting === undefined || underWay > 0) return
    setWaiting(undefined)
    if (hasFailed) setRefused(true)
    else latest.current(waiting)
  }, [waiting, underWay, hasFailed])
  useEffect(() => {
    if (!hasFailed) setRefused(false)
  }, [hasFailed])
  const send = (when: When) => {
    if (!isReady) return
    if (underWay > 0) setWaiting(when)
    // Words about a file that never arrived would be answered without it.
    else if (hasFailed) setRefused(true)
    else onSend(when)
  }
  const note = waiting ? (
    <>
      Sent as soon as {underWay === 1 ? "one file has" : `${count(underWay, "file")} have`} arrived.{" "}
      <button type="button" className="text-accent underline" onClick={() => setWaiting(undefined)}>
        Not yet
      </button>
    </>
  ) : (
    isRefused && hasFailed && "Not sent: try again what did not arrive, or leave it out."
  )
  return { send, note }
}
