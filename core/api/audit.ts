import { grantsOf } from "../engine/gate/grants.ts"
import { failure } from "../protocol/errors.ts"
import { isId } from "../protocol/ids.ts"
import { PageQuery } from "../protocol/requests.ts"
import type { ActionClass, AuditEntry as ProtocolEntry } from "../protocol/proposals/proposal.ts"
import { undo } from "../server/conversation/decide.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { check } from "../server/request/read-input.ts"
import { type Page, type PersonalParts, portsOf, type Proposal, type ReadOnly } from "./parts.ts"

/** An applied write: its arguments, the data before and after it, and who approved it. */
export interface AuditEntry extends ReadOnly<ProtocolEntry> {}

/** The applied writes of one user. */
export interface Audit {
  /** Lists applied writes, newest first. */
  list(page?: { readonly cursor?: string; readonly limit?: number }): Promise<Page<AuditEntry>>
  get(id: string): Promise<AuditEntry>
  /**
   * Proposes the inverse of a write, and returns the proposal, which needs its own decision. Throws `not_undoable` if the
   * tool has no `inverse` or refuses it, and `already_undone`.
   */
  undo(id: string): Promise<Proposal>
}

/** An approval in advance, for later calls of one tool in one conversation. */
export interface Grant {
  readonly tool: string
  /** The highest risk that it covers. */
  readonly action: ActionClass
  /** How many calls it covers, and how many of them are left. */
  readonly uses: number
  readonly left: number
  /** For a command: the only command line, or the start of those that it covers. */
  readonly commandLine?: string | undefined
  readonly prefix?: string | undefined
  readonly grantedAt: string
}

/** Approvals in advance, which `proposals.approve(id, { uses })` creates. */
export interface Grants {
  /** Lists the grants of a conversation that are in effect. */
  list(conversation: string): Promise<readonly Grant[]>
  /** Revokes the grants for a tool, or all of a conversation. Later calls wait for approval. */
  revoke(conversation: string, tool?: string): Promise<void>
}

export function openAudit(parts: PersonalParts): Audit {
  const { audit, clock } = parts.store
  const find = async (id: string) => {
    const entry = isId("aud", id) ? await audit.find(await parts.user(), id) : undefined
    if (!entry) throw failure("not_found")
    return entry
  }
  return {
    list: async (page = {}) => audit.list(await parts.user(), check(PageQuery, page)),
    get: find,
    undo: async (id) => undo({ ...portsOf(parts), clock }, await find(id), { by: await parts.user() }),
  }
}

export function openGrants(parts: PersonalParts): Grants {
  const { store, runtime, ports } = parts
  const find = async (id: string) => {
    if (!isId("conv", id)) throw failure("not_found")
    return conversationOf(store, await parts.user(), id)
  }
  return {
    async list(conversation) {
      const { id } = await find(conversation)
      const grants = grantsOf(await ports.journal.load(id, true))
      return grants.map(({ by: _, ...grant }) => ({ ...grant, grantedAt: new Date(grant.grantedAt).toISOString() }))
    },
    async revoke(conversation, tool) {
      const { id } = await find(conversation)
      await runtime.submit(id, { type: "revoke", ...(tool === undefined ? {} : { tool }), by: await parts.user() })
    },
  }
}
