import { daysCondition, type FullText, type WordQuery } from "../full-text.ts"
import { isWordPrefix } from "../text-grams.ts"

/** A generated tsvector column with English stems, under a GIN index. */
export const postgresFullText: FullText = {
  statements: [
    `ALTER TABLE passage ADD COLUMN words TSVECTOR
      GENERATED ALWAYS AS (to_tsvector('english', heading || ' ' || text)) STORED`,
    "CREATE INDEX passage_words ON passage USING GIN (words)",
    "CREATE INDEX passage_collection ON passage (collection)",
    `CREATE INDEX passage_grams ON passage USING GIN (to_tsvector('simple', grams)) WHERE grams <> ''`,
  ],
  search(query) {
    const { sql, values } = daysCondition(query)
    const { found, vector, language } = COLUMNS[query.among]
    return {
      sql: `SELECT passage.edition, passage.ordinal, ts_rank(${vector}, asked.q, 1) AS score
        FROM (SELECT to_tsquery('${language}', ?) AS q) asked, passage
        JOIN document ON document.id = passage.document AND document.edition = passage.edition
        WHERE ${found} @@ asked.q AND passage.person = ?
          AND passage.collection IN (${query.collections.map(() => "?").join(", ")})${sql}
        ORDER BY score DESC, passage.key LIMIT ?`,
      values: [matching(query), query.person, ...query.collections, ...values, query.limit],
    }
  },
  count({ words, among, person, collections, limit }) {
    const { found, language } = COLUMNS[among]
    const one = `SELECT count(*) AS n FROM (SELECT 1 FROM passage WHERE ${found} @@ to_tsquery('${language}', ?) AND person = ?
      AND collection IN (${collections.map(() => "?").join(", ")}) LIMIT ?) AS counted`
    return {
      sql: words.map(() => one).join(" UNION ALL "),
      values: words.flatMap((word) => [matching({ words: [word], among }), person, ...collections, limit]),
    }
  },
}

/** With the conditions of the partial index; otherwise it would not be used. */
const COLUMNS = {
  words: { found: "words", vector: "words", language: "english" },
  grams: {
    found: "grams <> '' AND to_tsvector('simple', grams)",
    vector: "to_tsvector('simple', grams)",
    language: "simple",
  },
} as const

/** Quoted, because a word may be an operator. Words contain no quotes. */
const matching = ({ words, among }: Pick<WordQuery, "words" | "among">) =>
  words.map((word) => (among === "grams" && isWordPrefix(word) ? `'${word}':*` : `'${word}'`)).join(" | ")
