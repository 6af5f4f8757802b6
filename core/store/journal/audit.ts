import type { Page } from "../../protocol/answers.ts"
import type { AuditEntry, InverseCall } from "../../protocol/proposals/proposal.ts"
import type { AuditId, ProposalId, UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { parseTimeCursor } from "../engine/newest-first.ts"
import type { Engine } from "../engine/engine.ts"
import { bytesOf, fittingRows } from "../engine/page-bytes.ts"
import { toTime } from "../engine/row-values.ts"

interface Row {
  readonly id: AuditId
  readonly conversation_id: AuditEntry["conversationId"]
  readonly run_id: AuditEntry["runId"]
  readonly call_id: AuditEntry["callId"]
  readonly proposal_id: ProposalId
  readonly tool: string
  readonly action: AuditEntry["action"]
  readonly summary: string
  readonly arguments: string
  readonly before: string
  readonly after: string
  readonly decided_by: string
  readonly applied_at: number
  readonly inverse: string | null
  readonly undoes: AuditId | null
  readonly undone_by: ProposalId | null
}

/** Reads applied writes. Their rows are written in the commit that records the write. */
export class SqlAudit {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A person's entries of all conversations, newest first. */
  async list(user: UserId, { cursor, limit }: PageQuery): Promise<Page<AuditEntry>> {
    const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
    const behind = `FROM audit WHERE user_id = ? AND (applied_at, id) < (?, ?)
      ORDER BY applied_at DESC, id DESC LIMIT ?`
    const values = [user, time, last]
    const sizes = `SELECT ${bytesOf(this.#engine, ["arguments", "before", "after", "inverse"])} AS bytes ${behind}`
    const found = await this.#engine.query<{ bytes: number }>(sizes, [...values, limit + 1])
    const fits = fittingRows(found.slice(0, limit)).length
    const rows = await this.#engine.query<Row>(`SELECT * ${behind}`, [...values, fits])
    const end = rows.at(-1)
    const isLast = rows.length === found.length
    return { items: rows.map(toEntry), nextCursor: isLast || !end ? null : `${end.applied_at}.${end.id}` }
  }

  /** Undefined if it does not exist or belongs to another person. */
  async find(user: UserId, id: AuditId): Promise<AuditEntry | undefined> {
    const [row] = await this.#engine.query<Row>("SELECT * FROM audit WHERE id = ? AND user_id = ?", [id, user])
    return row && toEntry(row)
  }
}

function toEntry(row: Row): AuditEntry {
  const { id, tool, action, summary, undoes } = row
  const inverse = row.inverse === null ? null : (JSON.parse(row.inverse) as InverseCall)
  return {
    id,
    conversationId: row.conversation_id,
    runId: row.run_id,
    callId: row.call_id,
    proposalId: row.proposal_id,
    tool,
    action,
    summary,
    arguments: JSON.parse(row.arguments) as JsonObject,
    before: JSON.parse(row.before) as unknown,
    after: JSON.parse(row.after) as unknown,
    decidedBy: row.decided_by,
    appliedAt: toTime(row.applied_at),
    undoable: inverse !== null,
    inverse,
    undoes,
    undoneBy: row.undone_by,
  }
}
