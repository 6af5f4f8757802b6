import { daysCondition, type FullText } from "./full-text.ts"

/** A tsvector with English stems that follows the row by itself, under a GIN index. */
export const postgresFullText: FullText = {
  statements: [
    `ALTER TABLE passage ADD COLUMN words TSVECTOR
      GENERATED ALWAYS AS (to_tsvector('english', heading || ' ' || text)) STORED`,
    "CREATE INDEX passage_words ON passage USING GIN (words)",
    "CREATE INDEX passage_collection ON passage (collection)",
  ],
  search(query) {
    const { sql, values } = daysCondition(query)
    return {
      sql: `SELECT passage.edition, passage.ordinal, ts_rank(words, asked.q, 1) AS score
        FROM (SELECT to_tsquery('english', ?) AS q) asked, passage
        JOIN document ON document.id = passage.document AND document.edition = passage.edition
        WHERE words @@ asked.q AND passage.person = ?
          AND passage.collection IN (${query.collections.map(() => "?").join(", ")})${sql}
        ORDER BY score DESC, passage.key LIMIT ?`,
      values: [matching(query.words), query.person, ...query.collections, ...values, query.limit],
    }
  },
  count({ words, person, collections, limit }) {
    const one = `SELECT count(*) AS n FROM (SELECT 1 FROM passage WHERE words @@ to_tsquery('english', ?) AND person = ?
      AND collection IN (${collections.map(() => "?").join(", ")}) LIMIT ?) AS counted`
    return {
      sql: words.map(() => one).join(" UNION ALL "),
      values: words.flatMap((word) => [matching([word]), person, ...collections, limit]),
    }
  },
}

/** Quoted, because a word may be one of theirs; quotes are no part of a word. */
const matching = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" | ")
