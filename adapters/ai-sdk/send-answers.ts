import type { Context } from "hono"
import type { ChatAnswers, ApprovalAnswer } from "./chat-request.ts"
import {
  actorOf,
  type ClientResult,
  conflict,
  conversationOf,
  decideAndWait,
  type Env,
  isOutcomeOf,
  proposalOf,
  readDelegatedCalls,
  requireDeviceOnline,
  requireScope,
  sendResults,
  type ServerPorts,
  userOf,
  watchFrom,
} from "../../core/adapter.ts"
import { type ConversationView, failure, hasCode, type JournalEvent, type Proposal } from "../../core/protocol/index.ts"
import type { StreamedRun } from "./stream-run.ts"

interface Answering {
  readonly asked: ChatAnswers
  readonly found: ConversationView
}

/** Continues a run with the answers in a page's message: decisions, and results of its own tools. */
export async function sendAnswers(
  c: Context<Env>,
  ports: ServerPorts,
  { asked: answers, found }: Answering,
): Promise<StreamedRun> {
  const { id } = found
  const user = userOf(c)
  const { waiting, ended } = await readDelegatedCalls(ports, user, id)
  // Results of our own tools are known here already.
  const results = answers.results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
  if (answers.decisions.length > 0) return decideAndGoOn(c, ports, { asked: answers, found, results })
  if (results.length === 0)
    throw failure("bad_request", {
      problem:
        "messages: the last one does not answer an open proposal or tool call. Send a message, or reload the chat.",
    })
  const { frames } = await sendResults(ports, { user, id, results })
  return { id, frames, continuesIn: answers.continuesIn }
}

interface Deciding {
  readonly asked: ChatAnswers
  readonly found: ConversationView
  /** Results of the page's tools: they are recorded before the decisions. */
  readonly results: readonly ClientResult[]
}

interface CheckedDecision extends ApprovalAnswer {
  readonly proposal: Proposal
}

/**
 * Decides the proposals in the message, and streams what follows. A repeated decision is accepted; if any decision
 * conflicts, the whole request is refused before anything is recorded.
 */
async function decideAndGoOn(c: Context<Env>, ports: ServerPorts, deciding: Deciding): Promise<StreamedRun> {
  const { asked: answers, found, results } = deciding
  const { id } = found
  requireScope(c, "approve")
  const checked = await Promise.all(answers.decisions.map((decided) => checkDecision(c, ports, { decided, found })))
  const open = checked.filter(({ proposal }) => proposal.status === "pending")
  for (const { proposal, approved } of open) if (approved) await requireDeviceOnline(ports, userOf(c), proposal)
  if (results.length > 0) (await sendResults(ports, { user: userOf(c), id, results })).frames.close()
  await Promise.all(open.map((each) => record(c, ports, { judged: each, found })))
  // Only now is it known which pauses are over: between two decisions the run may have waited for the second.
  const { position } = await conversationOf(ports, userOf(c), id)
  const isFirst = (event: JournalEvent) => checked.some(({ proposal }) => isOutcomeOf(event, proposal))
  return { id, frames: await watchFrom(ports, { id, position, isFirst }), continuesIn: answers.continuesIn }
}

async function checkDecision(
  c: Context<Env>,
  ports: ServerPorts,
  { decided, found }: { readonly decided: ApprovalAnswer; readonly found: ConversationView },
): Promise<CheckedDecision> {
  const proposal = await proposalOf(ports, userOf(c), decided.proposalId)
  if (proposal.conversationId !== found.id) throw failure("not_found")
  const { id, status, expiresAt, runId } = proposal
  if (status === "expired") throw conflict(failure("proposal_expired", { id, at: expiresAt }), proposal)
  const [newest] = (await ports.conversations.runs(found.id, { limit: 1 })).items
  const isSame = status === "pending" || (decided.approved ? CARRIED_OUT.has(status) : status === "rejected")
  // Events of a later run are not an answer to this one.
  if (!isSame || newest?.id !== runId) throw conflict(failure("proposal_decided", { id, status }), proposal)
  return { ...decided, proposal }
}

/** The states of an approved proposal. */
const CARRIED_OUT = new Set<string>(["applying", "applied", "failed", "in_doubt"])

async function record(
  c: Context<Env>,
  ports: ServerPorts,
  { judged: checked, found }: { readonly judged: CheckedDecision; readonly found: ConversationView },
): Promise<void> {
  const { proposal, approved, reason } = checked
  const { id: proposalId, conversationId } = proposal
  const decision = approved ? ("commit" as const) : ("reject" as const)
  const input = { type: "decide", proposalId, decision, ...actorOf(c), ...(reason ? { reason } : {}) } as const
  try {
    const happens = (event: JournalEvent) => isOutcomeOf(event, proposal)
    await decideAndWait(ports, { user: userOf(c), input, conversationId, happens })
  } catch (error) {
    if (!hasCode(error, "proposal_decided")) throw error
    await checkDecision(c, ports, { decided: checked, found }) // the same request was sent twice at once, or by another client
  }
}
