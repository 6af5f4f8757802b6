import { SHOWN_CHARACTERS } from "../database/kind.ts"

/** How many parts of a text are looked through for the first that differs. */
const PARTS = 100

/** A value as it is shown, as SQL: `excerpt` says what of it. `other` is the same column of what the row was, or becomes. */
export function shownValue(column: string, other?: string): string {
  const text = `${column}::text`
  if (other === undefined)
    return `CASE WHEN length(${text}) > ${SHOWN_CHARACTERS} THEN left(${text}, ${SHOWN_CHARACTERS}) || '…' ELSE ${text} END`
  const start = (whole: string) => `left(${whole}, ${PARTS * SHOWN_CHARACTERS})`
  const part = (whole: string, at: string) => `substr(${whole}, ${at} + 1, ${SHOWN_CHARACTERS})`
  // OFFSET, so that the starts are made once and not for each part: a text may be megabytes, and even its length is counted letter by letter.
  return `(SELECT CASE WHEN p.at > 0 THEN '…' ELSE '' END || ${part("v.t", "p.at")} ||
      CASE WHEN substr(v.t, p.at + ${SHOWN_CHARACTERS + 1}, 1) <> '' THEN '…' ELSE '' END
    FROM (SELECT ${text} AS t, ${start(text)} AS s, ${start(`${other}::text`)} AS u OFFSET 0) v, LATERAL (SELECT coalesce(min(n), 0) AS at
      FROM generate_series(0, ${(PARTS - 1) * SHOWN_CHARACTERS}, ${SHOWN_CHARACTERS}) n
      WHERE n < length(v.s) AND ${part("v.s", "n")} <> ${part("v.u", "n")}) p)`
}
