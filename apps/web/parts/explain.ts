import { useRef, useState } from "react"
import { ClientError, escapeHidden } from "../../../client/index.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"

/** What happened and what to do, for a person. Other errors have a message from the server that says both. */
export function explain(error: unknown): string {
  if (!(error instanceof ClientError)) return t("common.pageBroke")
  switch (error.code) {
    case "unreachable":
      return t("common.unreachable")
    case "unexpected_answer":
      return t("common.unexpectedAnswer")
    case "not_found":
      return t("common.notFound")
    case "unauthenticated":
      return t("common.signedOut")
    case "no_model_selected":
      return t("common.noModelSelected")
    case "forbidden":
      return t("common.forbidden")
    default:
      return escapeHidden(error.message)
  }
}

/** Does something and says in passing why it did not work, if so. True where it did. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    noticeSignOut(error)
    toast(explain(error), "bad")
    return false
  }
}

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
