import { failure } from "../protocol/errors.ts"
import { isId, type ProposalId } from "../protocol/ids.ts"
import type { Proposal as ProtocolProposal, ProposalStatus } from "../protocol/proposals/proposal.ts"
import { approve, edit, reject, proposeAgain, resolveDoubt } from "../server/conversation/decide.ts"
import { proposalOf } from "../server/conversation/find.ts"
import { check } from "../server/request/read-input.ts"
import { lookUntil } from "./follow.ts"
import { DoubtChoice, ProposalQuery, Rejection } from "../protocol/requests.ts"
import { ApprovalSchema, EditSchema } from "./option-schemas.ts"
import { type Page, type PersonalParts, portsOf, type Proposal } from "./parts.ts"

/** Which proposals (changes that need or needed approval) to list. Without options: the 50 newest. */
export interface ProposalFilter {
  readonly status?: ProposalStatus
  readonly conversation?: string
  readonly cursor?: string
  /** Default: 50. */
  readonly limit?: number
}

/**
 * Writes that wait for approval. A decision is recorded before the write runs, and the write runs at most once. A
 * second decision throws `proposal_decided`, with the proposal's status.
 */
export interface Proposals {
  /** Lists proposals, newest first. */
  list(filter?: ProposalFilter): Promise<Page<Proposal>>
  get(id: string): Promise<Proposal>
  /**
   * Approves a write and waits until it ends as `applied`, `failed` or `in_doubt`. `uses` also approves that many later
   * calls of the same kind.
   */
  approve(id: string, also?: { readonly uses?: number }): Promise<Proposal>
  reject(id: string, reason?: string): Promise<Proposal>
  /** Replaces the arguments. Returns the new proposal, which needs its own decision. */
  edit(id: string, input: Readonly<Record<string, unknown>>): Promise<Proposal>
  /** Proposes an expired write again. Returns a new proposal with a current preview. */
  again(id: string): Promise<Proposal>
  /** Resolves a write whose outcome is unknown: `retry` it, mark it `done`, or `abandon` it. */
  resolve(id: string, choice: "retry" | "done" | "abandon"): Promise<Proposal>
}

export function openProposals(parts: PersonalParts): Proposals {
  const ports = portsOf(parts)
  const find = async (id: string) => {
    if (!isId("prop", id)) throw failure("not_found")
    return proposalOf(ports, await parts.user(), id)
  }
  const by = async () => ({ by: await parts.user() })
  return {
    async list({ conversation, ...filter } = {}) {
      if (conversation !== undefined && !isId("conv", conversation)) throw failure("not_found")
      const here = conversation === undefined ? {} : { conversationId: conversation }
      return ports.proposals.list(await parts.user(), check(ProposalQuery, { ...filter, ...here }))
    },
    get: find,
    async approve(id, also = {}) {
      const { uses } = check(ApprovalSchema, also)
      const approval = { ...(await by()), ...(uses === undefined ? {} : { grant: { uses } }) }
      return settled(parts, await approve(ports, await find(id), approval))
    },
    async reject(id, given) {
      const { reason } = check(Rejection, { reason: given })
      return settled(parts, await reject(ports, await find(id), { ...(await by()), reason }))
    },
    async edit(id, input) {
      const { arguments: edited } = check(EditSchema, { arguments: input })
      return edit(ports, await find(id), { ...(await by()), edited })
    },
    again: async (id) => proposeAgain(ports, await find(id), await by()),
    async resolve(id, given) {
      const { choice } = check(DoubtChoice, { choice: given })
      return settled(parts, await resolveDoubt(ports, await find(id), { ...(await by()), choice }))
    },
  }
}

const OPEN: ReadonlySet<ProposalStatus> = new Set(["pending", "applying"])

/** Another process may run the write, so poll for its end. */
async function settled(parts: PersonalParts, proposal: ProtocolProposal): Promise<Proposal> {
  if (!OPEN.has(proposal.status)) return proposal
  const user = await parts.user()
  const look = async (id: ProposalId) => {
    const now = await proposalOf(portsOf(parts), user, id)
    return OPEN.has(now.status) ? undefined : now
  }
  return lookUntil(parts, proposal.conversationId, () => look(proposal.id))
}
