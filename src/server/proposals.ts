import { type Context, Hono } from "hono"
import type { Input } from "../agent/input.ts"
import { parse } from "../agent/schema.ts"
import { AppError, codeOf, failure } from "../protocol/errors.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { CallId, ProposalId } from "../protocol/ids.ts"
import type { Proposal } from "../protocol/proposal.ts"
import { DoubtChoice, ProposalEdit, ProposalQuery, Rejection } from "../protocol/requests.ts"
import { type Env, needs, userOf } from "./caller.ts"
import { findProposal } from "./find.ts"
import { readBody, readQuery } from "./input.ts"
import type { ServerPorts } from "./ports.ts"
import { watch } from "./watch.ts"

/** Looking at proposals and deciding them. A decision is recorded here; the loop alone carries it out. */
export function proposalRoutes(ports: ServerPorts): Hono<Env> {
  const app = new Hono<Env>()

  app.get("/agent/proposals", needs("read"), async (c) => {
    return c.json(await ports.proposals.list(userOf(c), readQuery(c, ProposalQuery)))
  })

  app.get("/agent/proposals/:id", needs("read"), async (c) => c.json(await findProposal(c, ports)))

  app.post("/agent/proposals/:id/commit", needs("approve"), async (c) => {
    const { id, callId, conversationId } = await findProposal(c, ports)
    const input = { type: "decide", proposalId: id, decision: "commit", by: userOf(c) } as const
    await decide(c, ports, { input, conversationId, happens: (event) => settles(event, callId) })
    return c.json(await carriedOut(c, ports))
  })

  app.post("/agent/proposals/:id/reject", needs("approve"), async (c) => {
    const { id, callId, conversationId } = await findProposal(c, ports)
    const { reason } = await readBody(c, Rejection)
    const input = { type: "decide", proposalId: id, decision: "reject", by: userOf(c), ...(reason ? { reason } : {}) } as const
    await decide(c, ports, { input, conversationId, happens: (event) => settles(event, callId) })
    return c.json(await findProposal(c, ports))
  })

  app.post("/agent/proposals/:id/resolve", needs("approve"), async (c) => {
    const { id, callId, conversationId } = await findProposal(c, ports)
    const { choice } = await readBody(c, DoubtChoice)
    const input = { type: "resolve", proposalId: id, choice, by: userOf(c) } as const
    await decide(c, ports, { input, conversationId, happens: (event) => settles(event, callId) })
    return c.json(await carriedOut(c, ports))
  })

  app.post("/agent/proposals/:id/edit", needs("approve"), async (c) => {
    const proposal = await findProposal(c, ports)
    const { arguments: edited } = await readBody(c, ProposalEdit)
    await refuseMisfit(c, ports, { proposal, edited })
    let successor: ProposalId | undefined
    let problem = "it could not be proposed anew"
    const happens = (event: JournalEvent) => {
      successor ??= proposedIn(event).find(({ callId }) => callId === proposal.callId)?.id
      if (event.type === "tool_end" && event.callId === proposal.callId) problem = event.text
      return successor !== undefined || settles(event, proposal.callId)
    }
    const input = { type: "edit", proposalId: proposal.id, arguments: edited, by: userOf(c) } as const
    await decide(c, ports, { input, conversationId: proposal.conversationId, happens })
    const made = successor && (await ports.proposals.find(userOf(c), successor))
    if (!made) throw failure("bad_request", { problem })
    return c.json(made, 201)
  })

  return app
}

/** The call has its result, or it is certain that nobody knows it. */
function settles(event: JournalEvent, callId: CallId): boolean {
  return (event.type === "tool_end" || event.type === "in_doubt") && event.callId === callId
}

function proposedIn(event: JournalEvent) {
  if (event.type === "proposal") return [event.proposal]
  return event.type === "awaiting_confirmation" ? event.proposals : []
}

interface Deciding {
  readonly input: Extract<Input, { proposalId: ProposalId }>
  readonly conversationId: Proposal["conversationId"]
  happens(event: JournalEvent): boolean
}

/** Records a decision and waits for what comes of it. Whoever comes too late learns how it stands. */
async function decide(c: Context<Env>, ports: ServerPorts, { input, conversationId, happens }: Deciding): Promise<void> {
  const { runtime } = ports
  using watching = watch(runtime, conversationId, happens)
  try {
    await runtime.submit(conversationId, input)
  } catch (error) {
    const code = codeOf(error)
    const proposal = await findProposal(c, ports)
    const { id, status } = proposal
    if (code === "proposal_decided") throw conflict(failure(code, { id, status }), proposal)
    if (code === "not_in_doubt") throw conflict(failure(code, { id, status }), proposal)
    if (code === "proposal_expired") throw conflict(failure(code, { id, at: proposal.expiresAt }), proposal)
    throw error
  }
  await watching.over()
}

/** A committed proposal as it came out; 409 where nothing was applied because the world had moved on. */
async function carriedOut(c: Context<Env>, ports: ServerPorts): Promise<Proposal> {
  const proposal = await findProposal(c, ports)
  const { id, status, code } = proposal
  if (status === "failed" && code === "proposal_stale") throw conflict(failure(code, { id }), proposal)
  if (status === "superseded") throw conflict(failure("proposal_decided", { id, status }), proposal)
  return proposal
}

const conflict = (error: AppError, proposal: Proposal) =>
  new AppError(error.code, error.message, { ...error.details, proposal })

/** Arguments that the tool would not take are refused before anything is recorded. */
async function refuseMisfit(
  c: Context<Env>,
  { runtime, conversations }: ServerPorts,
  { proposal, edited }: { proposal: Proposal; edited: Record<string, unknown> },
): Promise<void> {
  const conversation = await conversations.find(userOf(c), proposal.conversationId)
  const tool = runtime.ports.agents.orEmpty(conversation?.agent ?? "").tools.find(proposal.tool)
  if (!tool) return
  const parsed = await parse(tool.input, edited)
  if ("problem" in parsed) throw failure("bad_request", { problem: `arguments: ${parsed.problem}` })
}
