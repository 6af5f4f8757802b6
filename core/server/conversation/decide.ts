import { parse } from "../../engine/definition/schema.ts"
import type { Input, AgainInput, UndoInput } from "../../engine/input.ts"
import { failure, codeOf, AppError } from "../../protocol/errors.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import {
  type CallId,
  type ConversationId,
  isId,
  newId,
  type ProposalId,
  type RunId,
  type UserId,
} from "../../protocol/ids.ts"
import type { AuditEntry, Proposal } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import {
  answerProblem,
  QUESTION_SETTLED,
  type QuestionAnswer,
  SettledQuestion,
} from "../../protocol/conversation/questions.ts"
import { canonicalJson } from "../../shared/text/json.ts"
import { proposalOf, conversationOf } from "./find.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { Proposals, ConversationPorts } from "./ports.ts"
import { waitForEvent } from "./wait-for-event.ts"

/** Who decides, and with which credential, if it can be revoked. */
interface Decider {
  readonly by: UserId
  readonly credential?: string
}

interface ApprovalBy extends Decider {
  /** How many later writes of the same tool are approved with it. */
  readonly grant?: Extract<Input, { type: "decide" }>["grant"]
}

/** Approves a proposal and returns its outcome. Only the loop executes it. */
export async function approve(ports: DecidingPorts, proposal: Proposal, approval: ApprovalBy): Promise<Proposal> {
  const { id, callId, conversationId } = proposal
  const { grant, ...decider } = approval
  await requireDeviceOnline(ports, decider.by, proposal)
  const agreed = { type: "decide", proposalId: id, decision: "commit", ...decider } as const
  const input = grant === undefined ? agreed : { ...agreed, grant }
  await decideAndWait(ports, { user: decider.by, input, conversationId, happens: (event) => endsCall(event, callId) })
  return readApplied(ports, decider.by, id)
}

interface RejectionBy extends Decider {
  readonly reason?: string | null | undefined
}

export async function reject(ports: DecidingPorts, proposal: Proposal, rejection: RejectionBy): Promise<Proposal> {
  const { id, callId, conversationId } = proposal
  const { reason, ...decider } = rejection
  const refused = { type: "decide", proposalId: id, decision: "reject", ...decider } as const
  const input = reason ? { ...refused, reason } : refused
  await decideAndWait(ports, { user: decider.by, input, conversationId, happens: (event) => endsCall(event, callId) })
  return proposalOf(ports, decider.by, id)
}

/** Replaces a proposal by one with other arguments, which needs its own decision. Returns the new one. */
export async function edit(
  ports: DecidingPorts,
  proposal: Proposal,
  { edited, ...decider }: Decider & { readonly edited: JsonObject },
): Promise<Proposal> {
  await requireDeviceOnline(ports, decider.by, proposal)
  await checkArguments(ports, decider.by, { proposal, edited })
  let successor: ProposalId | undefined
  let problem = "it could not be proposed again"
  const happens = (event: JournalEvent) => {
    successor ??= proposalsIn(event).find(({ callId }) => callId === proposal.callId)?.id
    if (event.type === "tool_end" && event.callId === proposal.callId) problem = event.text
    return successor !== undefined || endsCall(event, proposal.callId)
  }
  const input = { type: "edit", proposalId: proposal.id, arguments: edited, ...decider } as const
  await decideAndWait(ports, { user: decider.by, input, conversationId: proposal.conversationId, happens })
  const made = successor && (await ports.proposals.find(decider.by, successor))
  if (!made) throw failure("bad_request", { problem })
  return made
}

export function proposalsIn(event: JournalEvent) {
  if (event.type === "proposal") return [event.proposal]
  return event.type === "awaiting_confirmation" ? event.proposals : []
}

/** Refuses arguments that the tool would reject, before anything is recorded. */
async function checkArguments(
  { agents, conversations }: DecidingPorts,
  user: UserId,
  { proposal, edited }: { readonly proposal: Proposal; readonly edited: JsonObject },
): Promise<void> {
  const conversation = await conversations.find(user, proposal.conversationId)
  const tool = agents.orEmpty(conversation?.agent ?? "").tools.find(proposal.tool)
  if (!tool) return
  const parsed = await parse(tool.input, edited)
  if ("problem" in parsed) throw failure("bad_request", { problem: `arguments: ${parsed.problem}` })
}

/** Proposes an expired write again. Returns the new proposal, which previews the change as it would be now. */
export async function proposeAgain(
  ports: DecidingPorts & { readonly clock: Clock; readonly proposals: Pick<Proposals, "find" | "undoneBy"> },
  proposal: Proposal,
  decider: Decider,
): Promise<Proposal> {
  const { runtime, proposals, clock } = ports
  const { by: user } = decider
  requireExpired(proposal)
  await requireReachable(ports, user, proposal)
  const { id, conversationId, summary, tool, arguments: args } = proposal
  const undoes = await proposals.undoneBy(proposal)
  const callId = newId("call", user, clock.now())
  const call = { callId, tool, arguments: args, ...(undoes ? { undoes } : {}) }
  const input: AgainInput = { type: "again", proposalId: id, summary, ...call, ...decider }
  const seen = watchProposal([proposal.callId, callId])
  const { position } = await conversationOf(ports, user, conversationId)
  using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
  await runtime.submit(conversationId, input).catch(async (error: unknown) => {
    // A concurrent caller was first: this one gets `proposal_decided`, not the error that follows from it.
    const code = codeOf(error)
    if (code === "busy" || code === "still_pending") requireExpired(await proposalOf(ports, user, id))
    throw error
  })
  await watching.over()
  const created = seen.proposal && (await proposals.find(user, seen.proposal))
  if (!created) throw failure("bad_request", { problem: seen.problem })
  return created
}

/** Proposes the inverse of an applied write. Returns the proposal, which needs its own decision. */
export async function undo(
  ports: DecidingPorts & { readonly clock: Clock },
  { id, conversationId, inverse, summary, undoneBy }: AuditEntry,
  decider: Decider,
): Promise<Proposal> {
  const { runtime, proposals, clock } = ports
  const { by: user } = decider
  if (!inverse) throw failure("not_undoable", { id, problem: "its tool says that nothing takes this back." })
  // The second caller gets the proposal of the first, and its status.
  const undone = async (error: AppError) => {
    const first = await proposals.find(user, error.details.by as ProposalId)
    return first ? conflict(error, first) : error
  }
  if (undoneBy) throw await undone(failure("already_undone", { id, by: undoneBy, status: "applied" }))
  const callId = newId("call", user, clock.now())
  const seen = watchProposal([callId], "it could not be proposed.")
  const { position } = await conversationOf(ports, user, conversationId)
  using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
  const input: UndoInput = { type: "undo", auditId: id, summary, callId, inverse, ...decider }
  await runtime.submit(conversationId, input).catch(async (error: unknown) => {
    throw codeOf(error) === "already_undone" ? await undone(error as AppError) : error
  })
  await watching.over()
  const created = seen.proposal && (await proposals.find(user, seen.proposal))
  if (!created) throw failure("not_undoable", { id, problem: seen.problem })
  return created
}

function requireExpired(proposal: Proposal): void {
  const { id, status } = proposal
  if (status === "expired") return
  if (status === "pending") throw conflict(failure("still_pending", { count: 1 }), proposal)
  throw conflict(failure("proposal_decided", { id, status }), proposal)
}

/** Waits until the call is proposed again, in its own run or in a new one, or ends without a proposal. */
function watchProposal(calls: readonly CallId[], problem = "it could not be proposed again") {
  const seen = {
    proposal: undefined as ProposalId | undefined,
    problem,
    happens(event: JournalEvent): boolean {
      seen.proposal ??= proposalsIn(event).find(({ callId }) => calls.includes(callId))?.id
      const ended = event.type === "tool_end" && calls.includes(event.callId) && event.status !== "expired"
      if (ended) seen.problem = event.text
      return seen.proposal !== undefined || ended
    },
  }
  return seen
}

interface Resolving {
  readonly by: UserId
  readonly credential?: string
  readonly choice: "retry" | "done" | "abandon"
}

/** Resolves a write in doubt with the person's answer. Returns the outcome. */
export async function resolveDoubt(
  ports: DecidingPorts,
  proposal: Proposal,
  { by, credential, choice }: Resolving,
): Promise<Proposal> {
  const { id, callId, conversationId, runId } = proposal
  if (choice === "retry") {
    await requireOpenRun(ports, by, runId)
    await requireDeviceOnline(ports, by, proposal)
  }
  const input = { type: "resolve", proposalId: id, choice, by, ...(credential ? { credential } : {}) } as const
  await decideAndWait(ports, { user: by, input, conversationId, happens: (event) => endsCall(event, callId) })
  return readApplied(ports, by, id)
}

/** Only the call's own run can retry it; when that run is over, the outcome can only be stated. */
async function requireOpenRun({ conversations }: DecidingPorts, user: UserId, runId: RunId): Promise<void> {
  const run = await conversations.run(user, runId)
  if (run?.status === "paused" || run?.status === "running") return
  throw failure("bad_request", { problem: 'choice: the run of this call is over; choose "done" or "abandon".' })
}

/** The services for a decision. A subset, so that a program that embeds Pawl decides in the same way. */
type DecidingPorts = Pick<
  ConversationPorts,
  "runtime" | "bus" | "journal" | "agents" | "proposals" | "conversations" | "devices"
>

interface DecisionRequest {
  readonly user: UserId
  readonly input: Extract<Input, { proposalId: ProposalId }>
  readonly conversationId: Proposal["conversationId"]
  happens(event: JournalEvent): boolean
}

/** Records a decision and waits for its outcome. Throws a conflict with the proposal if it was already decided. */
export async function decideAndWait(
  ports: DecidingPorts,
  { user, input, conversationId, happens }: DecisionRequest,
): Promise<void> {
  const conversation = await conversationOf(ports, user, conversationId)
  using watching = waitForEvent(ports, conversation, happens)
  await recordDecision(ports, { user, input, conversationId })
  await watching.over()
}

/** The same without waiting. */
async function recordDecision(
  ports: DecidingPorts,
  { user, input, conversationId }: Omit<DecisionRequest, "happens">,
): Promise<void> {
  try {
    await ports.runtime.submit(conversationId, input)
  } catch (error) {
    const code = codeOf(error)
    if (code !== "proposal_decided" && code !== "proposal_expired" && code !== "not_in_doubt") throw error
    const proposal = await proposalOf(ports, user, input.proposalId)
    const { id, status, expiresAt } = proposal
    if (code === "not_in_doubt") throw conflict(failure(code, { id, status }), proposal)
    if (status === "expired") throw conflict(failure("proposal_expired", { id, at: expiresAt }), proposal)
    throw conflict(failure("proposal_decided", { id, status }), proposal)
  }
}

/** Whether the event is a decision about the proposal, or its outcome. */
export function isOutcomeOf(event: JournalEvent, { id, callId }: Pick<Proposal, "id" | "callId">): boolean {
  if (event.type === "decision") return event.proposalId === id
  return (event.type === "tool_end" || event.type === "resolution") && event.callId === callId
}

/** Whether the call has its result, or is in doubt. */
export function endsCall(event: JournalEvent, callId: CallId): boolean {
  return (event.type === "tool_end" || event.type === "in_doubt") && event.callId === callId
}

/** The proposal after a commit. Throws a conflict if nothing was applied because its target has changed. */
export async function readApplied(ports: DecidingPorts, user: UserId, decided: ProposalId): Promise<Proposal> {
  const proposal = await proposalOf(ports, user, decided)
  const { id, status, code } = proposal
  if (status === "failed" && (code === "proposal_stale" || code === "proposal_unmet"))
    throw conflict(failure(code, { id }), proposal)
  if (status === "superseded") throw conflict(failure("proposal_decided", { id, status }), proposal)
  return proposal
}

/** A conflict that contains the proposal, so that the losing client sees its state. */
export const conflict = (error: AppError, proposal: Proposal) =>
  new AppError(error.code, error.message, { ...error.details, proposal })

/** Refuses a decision about a write that runs on a device which is offline. The proposal stays open. */
export async function requireDeviceOnline(ports: DecidingPorts, user: UserId, proposal: Proposal): Promise<void> {
  if (proposal.status === "pending" || proposal.status === "in_doubt") await requireReachable(ports, user, proposal)
}

/** The same for any status, because the write will be previewed again. */
async function requireReachable(
  { conversations, agents, devices }: Omit<DecidingPorts, "proposals">,
  user: UserId,
  proposal: Proposal,
): Promise<void> {
  const conversation = await conversations.find(user, proposal.conversationId)
  if (conversation?.site !== "device") return
  const offer = agents.orEmpty(conversation.agent).tools.find(proposal.tool)?.onSite
  const { id, deviceId } = conversation
  if (!offer || (await devices.isReachable({ user, conversation: id, deviceId, offer }))) return
  const device = deviceId === null ? "The device of this conversation" : `The device "${deviceId}"`
  throw conflict(failure("device_offline", { device }), proposal)
}

interface NamedQuestion {
  readonly id: ConversationId
  readonly questionId: string
}

/** Answers a question of a call, and waits until an answer is recorded: this one, or another that was first. */
export async function answerQuestion(
  ports: Pick<ConversationPorts, "runtime" | "bus" | "journal" | "conversations">,
  { id, questionId }: NamedQuestion,
  { by, ...answer }: QuestionAnswer & { readonly by: UserId },
): Promise<SettledQuestion> {
  if (!isId("ques", questionId)) throw failure("not_found")
  const { calls, position } = await ports.journal.load(id, true)
  const question = calls.find((call) => call.question?.id === questionId)?.question
  if (!question) throw failure("question_settled", { id: questionId })
  const problem = answerProblem(question, answer)
  if (problem) throw failure("bad_request", { problem })
  let settled: SettledQuestion | undefined
  const isOver = (event: JournalEvent) => {
    if (event.type === "step" && event.step === QUESTION_SETTLED) {
      const { data } = SettledQuestion.safeParse(event.detail)
      if (data?.questionId === questionId) settled = data
    }
    if (settled !== undefined) return true
    // The call ended, or was started again after a crash without its question.
    if (!("callId" in event) || event.callId !== question.callId) return false
    return event.type !== "tool_start" || question.number === undefined
  }
  using watching = waitForEvent(ports, { id, position }, isOver)
  await ports.runtime.submit(id, { type: "answer", questionId, by, ...answer })
  await watching.over()
  // The same answer from two devices counts as one.
  const { outcome, content = {} } = settled ?? {}
  if (!settled || outcome !== answer.action || canonicalJson(content) !== canonicalJson(answer.content ?? {}))
    throw failure("question_settled", { id: questionId })
  return settled
}
