import { failure } from "../protocol/errors.ts"
import { isId, type ProposalId } from "../protocol/ids.ts"
import type { Proposal as ProtocolProposal, ProposalStatus } from "../protocol/proposals/proposal.ts"
import { approve, edit, reject } from "../server/conversation/decide-proposal.ts"
import { proposalOf } from "../server/conversation/find.ts"
import { resolveDoubt } from "../server/conversation/resolve-doubt.ts"
import { check } from "../server/request/read-input.ts"
import { lookUntil } from "./follow.ts"
import { GivenApproval, GivenChoice, GivenEdit, GivenFilter, GivenRejection } from "./given.ts"
import { type PersonalParts, portsOf } from "./parts.ts"
import type { Page, Proposal } from "./read-only.ts"

export interface ProposalFilter {
  readonly status?: ProposalStatus
  readonly conversation?: string
  readonly cursor?: string
  /** 50 without. */
  readonly limit?: number
}

/**
 * Writes that wait for a person. A decision is on record before anything is done; then the conversation carries it out,
 * once. Whoever decides second gets `proposal_decided` with how it stands.
 */
export interface Proposals {
  /** Newest first. */
  list(filter?: ProposalFilter): Promise<Page<Proposal>>
  get(id: string): Promise<Proposal>
  /** Agrees, and resolves when the write has ended: `applied`, `failed` or `in_doubt`. `uses` agrees to so many later ones, too. */
  approve(id: string, also?: { readonly uses?: number }): Promise<Proposal>
  reject(id: string, reason?: string): Promise<Proposal>
  /** Other arguments: resolves with the proposal that takes its place, which waits for its own decision. */
  edit(id: string, input: Readonly<Record<string, unknown>>): Promise<Proposal>
  /** Says what becomes of a write in doubt: try it again, take it for done, or give it up. */
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
      return ports.proposals.list(await parts.user(), check(GivenFilter, { ...filter, ...here }))
    },
    get: find,
    async approve(id, also = {}) {
      const { uses } = check(GivenApproval, also)
      const approval = { ...(await by()), ...(uses === undefined ? {} : { uses }) }
      return settled(parts, await approve(ports, await find(id), approval))
    },
    async reject(id, given) {
      const { reason } = check(GivenRejection, { reason: given })
      return settled(parts, await reject(ports, await find(id), { ...(await by()), reason }))
    },
    async edit(id, input) {
      const { arguments: edited } = check(GivenEdit, { arguments: input })
      return edit(ports, await find(id), { ...(await by()), edited })
    },
    async resolve(id, given) {
      const { choice } = check(GivenChoice, { choice: given })
      return settled(parts, await resolveDoubt(ports, await find(id), { ...(await by()), choice }))
    },
  }
}

const OPEN: ReadonlySet<ProposalStatus> = new Set(["pending", "applying"])

/** Another process may be the one that carries it out: then its end is looked for. */
async function settled(parts: PersonalParts, proposal: ProtocolProposal): Promise<Proposal> {
  if (!OPEN.has(proposal.status)) return proposal
  const user = await parts.user()
  const look = async (id: ProposalId) => {
    const now = await proposalOf(portsOf(parts), user, id)
    return OPEN.has(now.status) ? undefined : now
  }
  return lookUntil(parts, proposal.conversationId, () => look(proposal.id))
}
