import type { Context } from "hono"
import type { AskedAnswers, ApprovalAnswer } from "./chat-request.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../core/protocol/errors.ts"
import {
  userOf,
  type Env,
  bringResults,
  handedCalls,
  type ServerPorts,
  type ClientResult,
  concerns,
  conflict,
  decideAndWait,
  conversationOf,
  proposalOf,
  refuseOffline,
  demand,
  doneBy,
  watchOn,
} from "../../core/adapter.ts"
import type { StreamedRun } from "./stream-run.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"

interface Answering {
  readonly asked: AskedAnswers
  readonly found: ConversationView
}

/** Takes what a page's message answers: what its person has decided, and what its own tools have brought. */
export async function goOn(c: Context<Env>, ports: ServerPorts, { asked, found }: Answering): Promise<StreamedRun> {
  const { id } = found
  const user = userOf(c)
  const { waiting, ended } = await handedCalls(ports, user, id)
  // What stands there as the results of our own tools is known here, and better.
  const results = asked.results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
  if (asked.decisions.length > 0) return decideAndGoOn(c, ports, { asked, found, results })
  if (results.length === 0)
    throw failure("bad_request", {
      problem:
        "messages: the last one does not answer an open proposal or tool call. Send a message, or reload the chat.",
    })
  const { frames } = await bringResults(ports, { user, id, results })
  return { id, frames, goesOnIn: asked.goesOnIn }
}

interface Deciding {
  readonly asked: AskedAnswers
  readonly found: ConversationView
  /** Of the page's own tools: they stand before what is decided. */
  readonly results: readonly ClientResult[]
}

interface Judged extends ApprovalAnswer {
  readonly proposal: Proposal
}

/**
 * Decides what a client's message has answers for, and tells what comes of it, behind the pause that asked. A decision that
 * was made the same way before is the same one, sent again; another one is refused with how it stands, and so is all of
 * the request, before anything is decided.
 */
export async function decideAndGoOn(c: Context<Env>, ports: ServerPorts, deciding: Deciding): Promise<StreamedRun> {
  const { asked, found, results } = deciding
  const { id } = found
  demand(c, "approve")
  const judged = await Promise.all(asked.decisions.map((decided) => judge(c, ports, { decided, found })))
  const open = judged.filter(({ proposal }) => proposal.status === "pending")
  for (const { proposal, approved } of open) if (approved) await refuseOffline(ports, userOf(c), proposal)
  if (results.length > 0) (await bringResults(ports, { user: userOf(c), id, results })).frames.close()
  await Promise.all(open.map((each) => record(c, ports, { judged: each, found })))
  // Only now it is known which pauses are over: between two decisions the run may have waited for the second.
  const { position } = await conversationOf(ports, userOf(c), id)
  const isFirst = (event: JournalEvent) => judged.some(({ proposal }) => concerns(event, proposal))
  return { id, frames: await watchOn(ports, { id, position, isFirst }), goesOnIn: asked.goesOnIn }
}

async function judge(
  c: Context<Env>,
  ports: ServerPorts,
  { decided, found }: { readonly decided: ApprovalAnswer; readonly found: ConversationView },
): Promise<Judged> {
  const proposal = await proposalOf(ports, userOf(c), decided.proposalId)
  if (proposal.conversationId !== found.id) throw failure("not_found")
  const { id, status, expiresAt, runId } = proposal
  if (status === "expired") throw conflict(failure("proposal_expired", { id, at: expiresAt }), proposal)
  const [newest] = (await ports.conversations.runs(found.id, { limit: 1 })).items
  const isSame = status === "pending" || (decided.approved ? CARRIED_OUT.has(status) : status === "rejected")
  // What another run has done since is no answer to this.
  if (!isSame || newest?.id !== runId) throw conflict(failure("proposal_decided", { id, status }), proposal)
  return { ...decided, proposal }
}

/** How one can stand that somebody has agreed to. */
const CARRIED_OUT = new Set<string>(["applying", "applied", "failed", "in_doubt"])

async function record(
  c: Context<Env>,
  ports: ServerPorts,
  { judged, found }: { readonly judged: Judged; readonly found: ConversationView },
): Promise<void> {
  const { proposal, approved, reason } = judged
  const { id: proposalId, conversationId } = proposal
  const decision = approved ? ("commit" as const) : ("reject" as const)
  const input = { type: "decide", proposalId, decision, ...doneBy(c), ...(reason ? { reason } : {}) } as const
  try {
    const happens = (event: JournalEvent) => concerns(event, proposal)
    await decideAndWait(ports, { user: userOf(c), input, conversationId, happens })
  } catch (error) {
    if (!hasCode(error, "proposal_decided")) throw error
    await judge(c, ports, { decided: judged, found }) // by the same request, sent twice at once, or by another
  }
}
