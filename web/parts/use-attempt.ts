import { useRef, useState } from "react"
import { attempt } from "./explain.ts"

interface Attempts {
  /** True where it was done. What is asked for while another is on its way, as by the second half of a double click, is not. */
  readonly once: (work: () => Promise<unknown>) => Promise<boolean>
  readonly isBusy: boolean
}

/** `attempt`, one at a time: for what makes a new thing whenever it is asked for. */
export function useAttempt(): Attempts {
  const [isBusy, setBusy] = useState(false)
  // Two clicks may come before anything is drawn again.
  const isUnderWay = useRef(false)
  const once = async (work: () => Promise<unknown>) => {
    if (isUnderWay.current) return false
    isUnderWay.current = true
    setBusy(true)
    try {
      return await attempt(work)
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return { once, isBusy }
}
