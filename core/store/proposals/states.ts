/**
 * The conditions of partial indexes, word for word: an index is only used by a statement that repeats its condition.
 */
export const IS_OPEN = "status IN ('pending', 'applying', 'in_doubt')"
export const HAS_EXPIRED = "status = 'expired'"

/** SQL for the open proposals of a conversation, with and without a person, each by the matching index. */
export function openIn(columns: string, which: "c.id = ?" | "c.key = ?"): string {
  const scans = ["q.person = c.person", "q.person IS NULL"].map(
    (whose) => `SELECT ${columns} FROM conversation c CROSS JOIN proposal q
      WHERE ${which} AND q.conversation = c.key AND ${whose} AND q.${IS_OPEN}`,
  )
  return scans.join(" UNION ALL ")
}
