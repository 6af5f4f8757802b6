/**
 * The states of a proposal as its indexes divide them. In these very words: an index of some rows is used for a statement
 * that repeats its condition, and otherwise all proposals that were ever made are read.
 */
export const IS_OPEN = "status IN ('pending', 'applying', 'in_doubt')"
export const HAS_EXPIRED = "status = 'expired'"

/** Of one conversation those that are open, with and without a note whose they are: each by the index of what is at hand. */
export function openIn(columns: string, which: "c.id = ?" | "c.key = ?"): string {
  const places = ["q.person = c.person", "q.person IS NULL"].map(
    (whose) => `SELECT ${columns} FROM conversation c CROSS JOIN proposal q
      WHERE ${which} AND q.conversation = c.key AND ${whose} AND q.${IS_OPEN}`,
  )
  return places.join(" UNION ALL ")
}
