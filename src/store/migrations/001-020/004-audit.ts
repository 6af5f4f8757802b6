import type { Migration } from "../migration.ts"

/** Every applied write. Ids as text, so that plain SQL reads it without knowing any other table. */
export const audit: Migration = {
  name: "004_audit",
  statements: ({ clustered }) => [
    `CREATE TABLE audit_entry (
      id TEXT NOT NULL PRIMARY KEY,
      conversation_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      call_id TEXT NOT NULL,
      proposal_id TEXT NOT NULL,
      tool TEXT NOT NULL,
      action TEXT NOT NULL,
      summary TEXT NOT NULL,
      arguments TEXT NOT NULL,
      before TEXT NOT NULL,
      after TEXT NOT NULL,
      decided_by TEXT NOT NULL,
      applied_at BIGINT NOT NULL,
      inverse TEXT,
      undoes TEXT) ${clustered}`,
    "CREATE INDEX audit_entry_person ON audit_entry (user_id, applied_at, id)",
    // A row is never changed: that it was undone is told by the row of whatever undid it.
    "CREATE INDEX audit_entry_undo ON audit_entry (undoes) WHERE undoes IS NOT NULL",
    `CREATE VIEW audit AS
      SELECT a.id, a.conversation_id, a.user_id, a.run_id, a.call_id, a.proposal_id, a.tool, a.action, a.summary,
        a.arguments, a.before, a.after, a.decided_by, a.applied_at, a.inverse, a.undoes,
        (SELECT min(u.proposal_id) FROM audit_entry u WHERE u.undoes = a.id) AS undone_by
      FROM audit_entry a`,
  ],
}
