import { SHOWN_CHARACTERS } from "../database/kind.ts"

/** The number of parts in which the first difference of a text is searched. */
const PARTS = 100

/** SQL that shortens a value like `excerpt`. `other` is the same column of the row before or after the change. */
export function shownValue(column: string, other?: string): string {
  const text = `${column}::text`
  if (other === undefined)
    return `CASE WHEN length(${text}) > ${SHOWN_CHARACTERS} THEN left(${text}, ${SHOWN_CHARACTERS}) || '…' ELSE ${text} END`
  const start = (whole: string) => `left(${whole}, ${PARTS * SHOWN_CHARACTERS})`
  const part = (whole: string, at: string) => `substr(${whole}, ${at} + 1, ${SHOWN_CHARACTERS})`
  // OFFSET, so that the starts are computed only once and not for each part: even the length of a long text takes time.
  return `(SELECT CASE WHEN p.at > 0 THEN '…' ELSE '' END || ${part("v.t", "p.at")} ||
      CASE WHEN substr(v.t, p.at + ${SHOWN_CHARACTERS + 1}, 1) <> '' THEN '…' ELSE '' END
    FROM (SELECT ${text} AS t, ${start(text)} AS s, ${start(`${other}::text`)} AS u OFFSET 0) v, LATERAL (SELECT coalesce(min(n), 0) AS at
      FROM generate_series(0, ${(PARTS - 1) * SHOWN_CHARACTERS}, ${SHOWN_CHARACTERS}) n
      WHERE n < length(v.s) AND ${part("v.s", "n")} <> ${part("v.u", "n")}) p)`
}
