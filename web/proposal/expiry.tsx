import { Clock } from "../icons/signs.ts"
import { useEffect, useState } from "react"

/** How long it still waits. Coarse while there is time, to the second at the end. */
export function Expiry({ expiresAt }: { readonly expiresAt: string }) {
  const until = Date.parse(expiresAt)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  const says = seconds === 0 ? "expired" : seconds < 120 ? `${seconds} s left` : `${Math.floor(seconds / 60)} min left`
  return (
    <span
      role="timer"
      className={`flex items-center gap-1 text-xs tabular-nums ${seconds < 120 ? "text-warn" : "text-faint"}`}
    >
      <Clock className="size-3.5" aria-hidden="true" /> {says}
    </span>
  )
}
