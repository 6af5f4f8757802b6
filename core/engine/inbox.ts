import type { MessageId } from "../protocol/ids.ts"
import { type Conversation, isOurs, openCalls, pauseReason, type RunState } from "./conversation.ts"
import type { CancelInput, InboxItem, Input } from "./input.ts"
import type { Journal } from "./journal.ts"

/** The waiting inputs that may enter the journal now, in the order they came. */
export function takeable(conversation: Conversation): readonly InboxItem[] {
  const { inbox, run } = conversation
  if (inbox.length === 0) return inbox
  const working = run?.status === "running"
  const safe = !working || openCalls(conversation).length === 0
  const nextMessage = working ? undefined : nextToBegin(conversation)
  return inbox.filter((item) => {
    if (item.input.type !== "message") return !working || !waitsForEnd(run, item.input)
    // A run of our own writing asks the model nothing: words that entered it would never be answered.
    return item === nextMessage || (working && safe && !isOurs(run) && item.input.when === "steer")
  })
}

/**
 * What comes to nothing in a run of our own, and is meant for after it: to go on with the question before one that only sums
 * up, and to sum up after one that takes back or proposes again.
 */
function waitsForEnd(run: RunState, { type }: Input): boolean {
  return run.compacts ? type === "resume" : isOurs(run) && type === "compact"
}

/** Each queued message starts a run of its own, so only the first is taken. */
function nextToBegin({ inbox, run, heldUpTo }: Conversation): InboxItem | undefined {
  const isMessage = ({ input }: InboxItem) => input.type === "message"
  const spoken = inbox.find((item) => isMessage(item) && item.number > heldUpTo)
  // After a run that failed what came first is told first. After a stop, what is said next is what the person wants now.
  return spoken && hasFailed(run) ? inbox.find(isMessage) : spoken
}

/** Whether a message waits that nothing will begin until somebody speaks: the run before it was stopped, or has failed. */
export function isHeld(conversation: Conversation, message: MessageId): boolean {
  const { inbox, run } = conversation
  if (run?.status === "running" || nextToBegin(conversation)) return false
  return inbox.some(({ input }) => input.type === "message" && input.id === message)
}

/** Whether words have to wait behind those that a run which failed has left: with them, these are let go too. */
export function isBehindOthers({ inbox, run }: Conversation, input: Input): boolean {
  // Who does not want to wait is not made to, where nothing is at work.
  if (input.type !== "message" || input.when === "reject" || !hasFailed(run)) return false
  return inbox.some((item) => item.input.type === "message")
}

/** Also where it was summed up since: that is nobody's word on what waits. */
const hasFailed = (run: RunState | undefined): boolean => (run?.compacts ? run.before : run)?.status === "failed"

/** Whether a cancel means the run that is under way: one for a revoked credential must not hit the run of another. */
export function concernsRun(run: Pick<RunState, "id" | "credential"> | undefined, cancel: CancelInput): boolean {
  const { credential, run: only } = cancel
  return (credential === undefined || run?.credential === credential) && (only === undefined || run?.id === only)
}

/**
 * Whether the run that is under way is cancelled by what waits, read in order: a decision before the cancel may have made
 * the run another credential's. Work that is stopped for a cancel that comes to nothing would be begun again for ever.
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
 * Is refused where it cannot be taken at once: nobody wants it to happen later. Nor may an older node find a kind of input
 * in an inbox that it does not know: it could do nothing with the conversation any more.
 */
export async function isImpatient(input: Input, journal: Pick<Journal, "hasOlderNode">): Promise<boolean> {
  if (input.type === "compact" || input.type === "client_results" || input.type === "answer")
    return journal.hasOlderNode()
  return input.type === "undo" || input.type === "again" || (input.type === "message" && input.when === "reject")
}

/** Whether the commit that makes the conversation ours may begin with this input: nobody is, or should be, at work on it. */
export function takesAtOnce(conversation: Conversation, input: Input): boolean {
  if (conversation.run?.status !== "running") return true
  if (waitsForEnd(conversation.run, input)) return false
  const because = pauseReason(conversation)
  // A call in doubt wants an answer first; words wait in the queue until it has one.
  return (
    because === "awaiting_confirmation" ||
    because === "awaiting_client" ||
    (because === "in_doubt" && input.type !== "message")
  )
}
