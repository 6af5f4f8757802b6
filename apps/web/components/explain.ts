import { useRef, useState } from "react"
import { ClientError, escapeHidden } from "../../../client/index.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"

/** The error as text for a person. Other errors have a complete message of the server. */
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

/** Runs an action and shows an error as a toast. Resolves to whether it succeeded. */
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
  /** Returns false without running if another is in progress, as in a double click. */
  readonly once: (work: () => Promise<unknown>) => Promise<boolean>
  readonly isBusy: boolean
}

/** `attempt`, one at a time: for actions that create something each time. */
export function useAttempt(): Attempts {
  const [isBusy, setBusy] = useState(false)
  // A ref, because two clicks may come before the next render.
  const isInProgress = useRef(false)
  const once = async (work: () => Promise<unknown>) => {
    if (isInProgress.current) return false
    isInProgress.current = true
    setBusy(true)
    try {
      return await attempt(work)
    } finally {
      isInProgress.current = false
      setBusy(false)
    }
  }
  return { once, isBusy }
}
