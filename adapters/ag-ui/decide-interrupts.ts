import type { Context } from "hono"
import { type InterruptAnswer, proposalIdOf, decisionIn } from "./events.ts"
import {
  actorOf,
  type AgUiResume,
  conversationOf,
  decideAndWait,
  edit,
  type Env,
  isOutcomeOf,
  proposalOf,
  reject,
  requireDeviceOnline,
  requireScope,
  resolveDoubt,
  senderFields,
  type ServerPorts,
  userOf,
  watchFrom,
} from "../../core/adapter.ts"
import {
  AppError,
  type ConversationView,
  failure,
  hasCode,
  type JournalEvent,
  type Proposal,
  type ProposalStatus,
} from "../../core/protocol/index.ts"
import type { AgUiThread } from "./thread.ts"
import type { AgUiRun } from "./run-stream.ts"

interface Deciding {
  readonly thread: AgUiThread
  readonly resume: readonly AgUiResume[]
}

/**
 * Decides open proposals, and returns the run as it continues. All entries are validated first. A decision that comes too
 * late is reported in the stream, which continues, because a frontend must answer everything before it may send again.
 */
export async function decideInterrupts(
  c: Context<Env>,
  ports: ServerPorts,
  { thread, resume }: Deciding,
): Promise<AgUiRun> {
  const { found } = thread
  if (!found) throw failure("not_found")
  requireScope(c, "approve")
  const decisions = await Promise.all(resume.map((entry, at) => read(c, ports, { found, entry, at })))
  const proposals = await ports.proposals.open(found.id)
  const late = (await Promise.all(decisions.map((one) => decide(c, ports, one)))).flat()
  if (late.some(({ code }) => code === "proposal_expired")) await settleExpired(c, ports, found)
  const { position } = await conversationOf(ports, userOf(c), found.id)
  const isAbout = (event: JournalEvent) => decisions.some(({ proposal }) => isOutcomeOf(event, proposal))
  return {
    frames: await watchFrom(ports, { id: found.id, position, isFirst: isAbout }),
    calls: new Set(decisions.map(({ proposal }) => proposal.callId)),
    ...{ proposals, late, ignored: [] },
  }
}

interface AskedDecision {
  readonly proposal: Proposal
  readonly decided: InterruptAnswer
}

async function read(
  c: Context<Env>,
  ports: ServerPorts,
  { found, entry, at }: { found: ConversationView; entry: AgUiResume; at: number },
): Promise<AskedDecision> {
  const proposal = await proposalOf(ports, userOf(c), proposalIdOf(entry))
  if (proposal.conversationId !== found.id) throw failure("not_found")
  return { proposal, decided: decisionIn(entry, `resume.${at}`, proposal.status === "in_doubt") }
}

interface Late {
  readonly interruptId: string
  readonly code: string
  readonly message: string
  readonly status: ProposalStatus
}

/** Records one decision; or returns the proposal's state if it does not count. */
async function decide(c: Context<Env>, ports: ServerPorts, { proposal, decided }: AskedDecision): Promise<Late[]> {
  try {
    await record(c, ports, { proposal, decided })
    return []
  } catch (error) {
    if (!(error instanceof AppError) || !isConflict(error)) throw error
    const { id, status } = await proposalOf(ports, userOf(c), proposal.id)
    // A repetition of a lost answer, or the same decision by another client.
    if (hasCode(error, "proposal_decided") && OUTCOMES[decided.type].includes(status)) return []
    return [{ interruptId: id, code: error.code, message: error.message, status }]
  }
}

const isConflict = (error: AppError): boolean =>
  [
    "proposal_decided",
    "proposal_expired",
    "proposal_stale",
    "proposal_unmet",
    "not_in_doubt",
    "device_offline",
  ].includes(error.code)

/** The states of a proposal after each decision. */
const OUTCOMES: Readonly<Record<InterruptAnswer["type"], readonly ProposalStatus[]>> = {
  approve: ["applying", "applied", "failed", "in_doubt", "abandoned"],
  reject: ["rejected"],
  edit: ["superseded"],
  resolve: ["applied", "abandoned"],
}

async function record(c: Context<Env>, ports: ServerPorts, { proposal, decided }: AskedDecision): Promise<unknown> {
  const decider = actorOf(c)
  switch (decided.type) {
    case "reject":
      return reject(ports, proposal, { ...decider, reason: decided.reason })
    case "edit":
      return edit(ports, proposal, { ...decider, edited: decided.edited })
    case "resolve":
      return resolveDoubt(ports, proposal, { ...decider, choice: decided.choice })
    case "approve": {
      const { id: proposalId, conversationId } = proposal
      await requireDeviceOnline(ports, decider.by, proposal)
      const input = { type: "decide", proposalId, decision: "commit", ...decider } as const
      // The outcome is streamed.
      const happens = (event: JournalEvent) => event.type === "decision" && event.proposalId === proposalId
      return decideAndWait(ports, { user: decider.by, input, conversationId, happens })
    }
  }
}

/** Ends expired proposals, and the run continues without them, unless others still wait. */
async function settleExpired(c: Context<Env>, { runtime }: ServerPorts, { id }: ConversationView): Promise<void> {
  try {
    await runtime.submit(id, { type: "resume", by: userOf(c), ...senderFields(c.get("caller")) })
  } catch (error) {
    if (!hasCode(error, "still_pending")) throw error
  }
}
