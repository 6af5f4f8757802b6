import { WifiOff } from "../icons/signs.ts"
import { useEffect, useState } from "react"
import type { StreamState } from "../../src/client/index.ts"

interface LineStateProps {
  readonly line: StreamState["state"]
  readonly isOpen: boolean
}

/** A line that is away for a blink is nobody's business. */
const PATIENCE_MS = 1500

/** Says that what is shown may be old, for as long as the page has no line to the server. */
export function LineState({ line, isOpen }: LineStateProps) {
  const away = isOpen && line !== "live"
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (!away) return setShown(false)
    const timer = setTimeout(() => setShown(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [away])
  if (!isShown) return null
  return (
    <p
      role="status"
      className="appear mx-auto flex w-fit items-center gap-2 rounded-full bg-warn-soft px-3.5 py-1 text-[13px] text-warn"
    >
      <WifiOff className="size-3.5" /> Not connected. Trying again; nothing is lost.
    </p>
  )
}
