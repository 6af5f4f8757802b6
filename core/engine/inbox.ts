import type { MessageId } from "../protocol/ids.ts"
import { type Conversation, isServerRun, openCalls, pauseReason, type RunState } from "./conversation.ts"
import type { CancelInput, InboxItem, Input } from "./input.ts"
import type { Journal } from "./journal.ts"

/** Inputs of the inbox that can enter the journal now, in the order of arrival. */
export function pendingInput(conversation: Conversation): readonly InboxItem[] {
  const { inbox, run } = conversation
  if (inbox.length === 0) return inbox
  const working = run?.status === "running"
  const safe = !working || openCalls(conversation).length === 0
  const nextMessage = working ? undefined : nextToBegin(conversation)
  return inbox.filter((item) => {
    if (item.input.type !== "message") return !working || !waitsForEnd(run, item.input)
    // A run that the server started does not ask the model, so a message that entered it would not be answered.
    return item === nextMessage || (working && safe && !isServerRun(run) && item.input.when === "steer")
  })
}

/**
 * Inputs that must wait for the end of a run that the server started: `continue` during a summary, and `compact` during
 * an undo or a repeated proposal.
 */
function waitsForEnd(run: RunState, { type }: Input): boolean {
  return run.compacts ? type === "resume" : isServerRun(run) && type === "compact"
}

/** Each queued message starts its own run, so only the first is taken. */
function nextToBegin({ inbox, run, heldUpTo }: Conversation): InboxItem | undefined {
  const isMessage = ({ input }: InboxItem) => input.type === "message"
  const spoken = inbox.find((item) => isMessage(item) && item.number > heldUpTo)
  // After a failed run the oldest message comes first. After a cancel, the newest message is what the user wants now.
  return spoken && hasFailed(run) ? inbox.find(isMessage) : spoken
}

/** True if a message waits for the user's next message, because the run before it was cancelled or failed. */
export function isHeld(conversation: Conversation, message: MessageId): boolean {
  const { inbox, run } = conversation
  if (run?.status === "running" || nextToBegin(conversation)) return false
  return inbox.some(({ input }) => input.type === "message" && input.id === message)
}

/** True if a message must wait behind those that a failed run left in the queue. It releases them as well. */
export function waitsBehindOthers({ inbox, run }: Conversation, input: Input): boolean {
  // A caller who does not want to wait does not have to if nothing is running.
  if (input.type !== "message" || input.when === "reject" || !hasFailed(run)) return false
  return inbox.some((item) => item.input.type === "message")
}

/** A summary after the failed run does not release the queue. */
const hasFailed = (run: RunState | undefined): boolean => (run?.compacts ? run.before : run)?.status === "failed"

/** True if a cancel concerns the current run: one for a revoked credential must not stop another credential's run. */
export function concernsRun(run: Pick<RunState, "id" | "credential"> | undefined, cancel: CancelInput): boolean {
  const { credential, run: only } = cancel
  return (credential === undefined || run?.credential === credential) && (only === undefined || run?.id === only)
}

/**
 * True if the waiting input cancels the current run. It is read in order, because a decision before the cancel may have
 * given the run to another credential. A cancel that had no effect would stop and restart the work forever.
 */
export function isCancelled({ run, inbox, proposals }: Conversation): boolean {
  let credential = run?.credential
  for (const { input } of inbox) {
    if (input.type === "cancel" && concernsRun(run && { ...run, credential }, input)) return true
    if ("proposalId" in input && proposals.has(input.proposalId)) credential = input.credential ?? credential
  }
  return false
}

/**
 * True for input that is refused if it cannot be handled at once. It must not enter an inbox either, where an older
 * node could not read it and would be stuck.
 */
export async function isNeverQueued(input: Input, journal: Pick<Journal, "hasOlderNode">): Promise<boolean> {
  if (input.type === "compact" || input.type === "client_results" || input.type === "answer")
    return journal.hasOlderNode()
  return input.type === "undo" || input.type === "again" || (input.type === "message" && input.when === "reject")
}

/** True if the commit that claims an idle conversation can include this input. */
export function isHandledAtOnce(conversation: Conversation, input: Input): boolean {
  if (conversation.run?.status !== "running") return true
  if (waitsForEnd(conversation.run, input)) return false
  const because = pauseReason(conversation)
  // A call in doubt needs a decision first; messages wait in the queue until then.
  return (
    because === "awaiting_confirmation" ||
    because === "awaiting_client" ||
    (because === "in_doubt" && input.type !== "message")
  )
}
