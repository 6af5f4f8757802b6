import type { Context } from "hono"
import { type InterruptAnswer, proposalIdOf, decisionIn } from "./events.ts"
import type { AgUiResume } from "../../core/protocol/dialects/ag-ui.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { AppError, failure, hasCode } from "../../core/protocol/errors.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { Proposal, ProposalStatus } from "../../core/protocol/proposals/proposal.ts"
import {
  concerns,
  decideAndWait,
  edit,
  reject,
  conversationOf,
  proposalOf,
  refuseOffline,
  resolveDoubt,
  demand,
  doneBy,
  spokenBy,
  userOf,
  type Env,
  type ServerPorts,
  watchOn,
} from "../../core/adapter.ts"
import type { AgUiThread } from "./thread.ts"
import type { AgUiRun } from "./run-stream.ts"

interface Deciding {
  readonly thread: AgUiThread
  readonly resume: readonly AgUiResume[]
}

/**
 * Decides what waits, and gives the run as it goes on from there. All entries are read before one of them counts. Who comes
 * too late is told so in the stream, which goes on: a frontend may not speak again before it has answered everything.
 */
export async function decideInterrupts(
  c: Context<Env>,
  ports: ServerPorts,
  { thread, resume }: Deciding,
): Promise<AgUiRun> {
  const { found } = thread
  if (!found) throw failure("not_found")
  demand(c, "approve")
  const asked = await Promise.all(resume.map((entry, at) => read(c, ports, { found, entry, at })))
  const proposals = await ports.proposals.open(found.id)
  const late = (await Promise.all(asked.map((one) => decide(c, ports, one)))).flat()
  if (late.some(({ code }) => code === "proposal_expired")) await settleExpired(c, ports, found)
  const { position } = await conversationOf(ports, userOf(c), found.id)
  const isAbout = (event: JournalEvent) => asked.some(({ proposal }) => concerns(event, proposal))
  return {
    frames: await watchOn(ports, { id: found.id, position, isFirst: isAbout }),
    calls: new Set(asked.map(({ proposal }) => proposal.callId)),
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

/** One decision, on record when this resolves; or how it stands where it does not count. */
async function decide(c: Context<Env>, ports: ServerPorts, { proposal, decided }: AskedDecision): Promise<Late[]> {
  try {
    await record(c, ports, { proposal, decided })
    return []
  } catch (error) {
    if (!(error instanceof AppError) || !isConflict(error)) throw error
    const { id, status } = await proposalOf(ports, userOf(c), proposal.id)
    // Sent again because its answer was lost, or by two who agree.
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

/** How a proposal stands after such a decision. */
const OUTCOMES: Readonly<Record<InterruptAnswer["type"], readonly ProposalStatus[]>> = {
  approve: ["applying", "applied", "failed", "in_doubt", "abandoned"],
  reject: ["rejected"],
  edit: ["superseded"],
  resolve: ["applied", "abandoned"],
}

async function record(c: Context<Env>, ports: ServerPorts, { proposal, decided }: AskedDecision): Promise<unknown> {
  const decider = doneBy(c)
  switch (decided.type) {
    case "reject":
      return reject(ports, proposal, { ...decider, reason: decided.reason })
    case "edit":
      return edit(ports, proposal, { ...decider, edited: decided.edited })
    case "resolve":
      return resolveDoubt(ports, proposal, { ...decider, choice: decided.choice })
    case "approve": {
      const { id: proposalId, conversationId } = proposal
      await refuseOffline(ports, decider.by, proposal)
      const input = { type: "decide", proposalId, decision: "commit", ...decider } as const
      // What comes of it is told as it comes.
      const happens = (event: JournalEvent) => event.type === "decision" && event.proposalId === proposalId
      return decideAndWait(ports, { user: decider.by, input, conversationId, happens })
    }
  }
}

/** What nobody has decided in time is over, and the run goes on without it; unless something else still waits. */
async function settleExpired(c: Context<Env>, { runtime }: ServerPorts, { id }: ConversationView): Promise<void> {
  try {
    await runtime.submit(id, { type: "resume", by: userOf(c), ...spokenBy(c.get("caller")) })
  } catch (error) {
    if (!hasCode(error, "still_pending")) throw error
  }
}
