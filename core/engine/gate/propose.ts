import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { ActionClass, Proposed } from "../../protocol/proposals/proposal.ts"
import { mendText } from "../../shared/text/text.ts"
import { toolEnd } from "../calls/tool-end.ts"
import { boundedDiff, type CheckedCall, checkCall, contextFor, secondsFor, threw } from "../calls/result.ts"
import { type Call, type Conversation, openCalls } from "../conversation.ts"
import { duplicatesOf } from "../calls/duplicates.ts"
import { useGrant } from "./grants.ts"
import { automaticApprover, type ToolLocation, isDenied } from "./policy.ts"
import { proposalHash } from "./proposal-hash.ts"
import { record, type Work } from "../record.ts"
import type { Preview, Tool } from "../definition/tool.ts"
import { hasSeenOutsideAndPrivate, approvalReason } from "./taint.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"

/**
 * The most changes of one reply that are proposed at a time: they fill about a screen, which a person can still review.
 */
const MAX_WAITING = 20

/**
 * Turns each call of the reply that needs one into a proposal, in one commit, so that the run pauses once. A call that the
 * policy approves gets a proposal as well, so that every write takes one path.
 */
export async function propose(work: Work): Promise<void> {
  const calls = openCalls(work.conversation).filter((call) => call.state === "new" || call.state === "edited")
  const outcomes = await Promise.all(calls.map((call) => toOutcome(work, call)))
  const waiting: Proposed[] = []
  const events: NewEvent[] = []
  // In call order, because each may use up what remains of its tool's grant.
  const granting = { grants: work.conversation.grants }
  for (const outcome of outcomes) {
    if ("end" in outcome) {
      events.push(outcome.end)
      continue
    }
    const { proposed, edited, location } = outcome
    const approvedBy = automaticApprover(
      { ...work.conversation, ...granting },
      { ...proposed, ...location },
      work.ports.policy,
    )
    // A person who edited a call wants to see the result; a grant covers only calls that are not reviewed.
    if (!approvedBy || (approvedBy !== "policy" && edited)) {
      if (waiting.length < MAX_WAITING) waiting.push(withReason(work, { ...outcome, granting }))
      else events.push(tooMany(work, proposed))
    } else events.push({ type: "proposal", proposal: proposed, approvedBy })
    if (approvedBy === "grant" && !edited) useGrant(granting, proposed)
  }
  if (waiting.length > 0) events.push({ type: "awaiting_confirmation", proposals: waiting })
  await record(work, events)
}

/** Adds the reason if only the taint of the conversation prevents the mode or a grant from approving. */
function withReason(
  { conversation, ports }: Work,
  {
    proposed,
    location,
    granting,
  }: Extract<Outcome, { proposed: Proposed }> & { granting: Pick<Conversation, "grants"> },
): Proposed {
  if (!hasSeenOutsideAndPrivate(conversation)) return proposed
  const hasSeen = { outside: false, private: false }
  const approver = automaticApprover(
    { ...conversation, ...granting, hasSeen },
    { ...proposed, ...location },
    ports.policy,
  )
  return proposed.sends || approver ? { ...proposed, reason: approvalReason(conversation) } : proposed
}

function tooMany({ conversation, ports }: Work, { callId }: Proposed): NewEvent {
  const call = conversation.calls.find(({ id }) => id === callId) as Call
  const text = `Not proposed: a person can look over ${MAX_WAITING} changes at a time, and those before this one wait. Propose fewer: the rest when these are decided, or one call that changes more.`
  return toolEnd(conversation, call, { status: "error", text, now: ports.clock.now() })
}

type Outcome = { end: NewEvent } | { proposed: Proposed; edited: boolean; location: ToolLocation }

async function toOutcome(work: Work, call: Call): Promise<Outcome> {
  const { conversation, ports } = work
  const now = ports.clock.now()
  const checked = await checkCall(work, call)
  if ("end" in checked) return checked
  if (isDenied(conversation, checked.tool)) {
    const text = "Not done: this conversation is read-only. Say what you would have changed instead."
    return { end: toolEnd(conversation, call, { status: "denied", text, now }) }
  }
  const preview = await readPreview(work, call, checked)
  if ("error" in preview) return { end: threw(work, call, { error: preview.error, tool: checked.tool }) }
  const proposed = toProposed(work, call, { ...checked, preview })
  return { proposed, edited: call.state === "edited", location: toLocation(checked.tool) }
}

function toLocation({ onSite, staysIn }: Tool): ToolLocation {
  return { onSite: onSite !== undefined, ...(staysIn ? { staysIn } : {}) }
}

async function readPreview(
  work: Work,
  call: Call,
  { tool, input, given }: CheckedCall,
): Promise<Preview | { error: unknown }> {
  if (tool.effect === "read") return previewOfSending({ tool, input, given })
  // A write without a preview counts as the worst case. Its arguments are shown in any case.
  const fallback: Preview = { summary: `Run ${tool.name}`, action: "destructive_update" }
  // Previewing a call with egress would send its arguments before approval.
  if (!tool.preview || previewWouldSend(work, tool)) return fallback
  const { clock } = work.ports
  const ended = await withTimeLimit<Preview>(
    { clock, seconds: secondsFor(work, tool), signal: work.signal, graceMs: 0 },
    (inner) =>
      // A write tool always has `preview`; the optional call is for the compiler, which forgets the check inside the
      // arrow.
      tool.preview?.(input, contextFor(work, call, { signal: inner })) ?? fallback,
  )
  if (ended.type === "threw") return { error: ended.error }
  if (ended.type === "returned") {
    const noPreview = { error: new Error("it does not say what it would change; this is a defect of the tool") }
    return typeof ended.value.summary === "string" ? ended.value : noPreview
  }
  ended.rest.catch(() => {})
  if (work.signal.reason === "shutdown") throw work.signal.reason
  return { error: new Error("what it would change could not be read in time") }
}

/** It overwrites nothing, so no client may say so. Clients say that it sends data and cannot be undone. */
function previewOfSending({ tool, input, given }: CheckedCall): Preview {
  const plain = `Send outside with ${tool.name}`
  const plainPreview = { summary: `${plain}: ${JSON.stringify(given)}`, title: plain, action: "safe_create" } as const
  if (tool.effect !== "read" || !tool.sending) return plainPreview
  try {
    const words = String(tool.sending(input))
    return { ...plainPreview, summary: words, title: words }
  } catch {
    return plainPreview // a tool without a description of it is proposed all the same
  }
}

const previewWouldSend = ({ conversation }: Work, { egress }: Tool) =>
  egress === true && hasSeenOutsideAndPrivate(conversation)

function toProposed(
  { conversation, ports }: Work,
  call: Call,
  { tool, given, preview }: CheckedCall & { preview: Preview },
): Proposed {
  const isUnderstood = given !== call.input
  const now = ports.clock.now()
  const version = tool.version ?? 1
  const times = 1 + duplicatesOf(conversation, call).length
  const asked = times > 1 ? ` (asked for ${times} times in one reply; done once)` : ""
  const expiresAt = now + ports.policy.proposalMinutes * 60_000
  const shown = {
    tool: tool.name,
    version,
    expiresAt,
    ...(preview.target === undefined ? {} : { target: mendText(preview.target) }),
    ...(preview.revision === undefined ? {} : { revision: mendText(preview.revision) }),
  }
  return {
    id: newId("prop", conversation.user, now),
    callId: call.id,
    action: ACTIONS.has(preview.action) ? preview.action : "destructive_update",
    summary: mendText(preview.summary.slice(0, 1000)) + asked,
    ...(preview.title === undefined ? {} : { title: mendText(String(preview.title).slice(0, 1000)) + asked }),
    undoable: tool.effect === "write" && tool.inverse !== false,
    ...(preview.insists === true ? { insists: true as const } : {}),
    ...(preview.commandLine === undefined ? {} : { commandLine: mendText(String(preview.commandLine)) }),
    ...(tool.effect === "read" ? { sends: true as const } : {}),
    hash: proposalHash(conversation, { input: given }, shown),
    ...shown,
    ...(call.isChanged || isUnderstood ? { arguments: given } : {}),
    ...(isUnderstood ? { understood: true as const } : {}),
    ...(preview.diff === undefined ? {} : { diff: boundedDiff(preview.diff, ports.secrets) }),
  }
}

const ACTIONS = new Set<ActionClass>(["safe_create", "safe_update", "destructive_update", "destructive_delete"])
