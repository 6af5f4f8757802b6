import type { CallId, MessageId, ProposalId } from "../../protocol/ids.ts"

interface Alike {
  readonly msg: MessageId
  readonly prop: ProposalId
}

/**
 * The id of something of which there is one for a call: a reply for its first, a proposal. It has the same digits, so that
 * whoever keeps both need keep them once.
 */
export const idLike = <Kind extends keyof Alike>(kind: Kind, id: CallId): Alike[Kind] =>
  (kind + id.slice(id.indexOf("_"))) as Alike[Kind]
