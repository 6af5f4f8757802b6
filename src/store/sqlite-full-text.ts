import { daysCondition, type FullText, type WordQuery } from "./full-text.ts"

/**
 * FTS5 with Porter's stems, ranked by BM25. It keeps no copy of the text, and follows the table by itself. The collection
 * is a word like any other, so that a search does not go through everybody's passages; it counts nothing.
 */
export const sqliteFullText: FullText = {
  statements: [
    `CREATE VIRTUAL TABLE passage_words USING fts5 (collection, heading, text, content='', contentless_delete=1,
      tokenize='porter unicode61')`,
    `CREATE TRIGGER passage_added AFTER INSERT ON passage BEGIN
      INSERT INTO passage_words (rowid, collection, heading, text) VALUES (new.key, new.collection, new.heading, new.text);
    END`,
    `CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
      DELETE FROM passage_words WHERE rowid = old.key;
    END`,
  ],
  search(query) {
    const { sql, values } = daysCondition(query)
    return {
      sql: `SELECT passage.edition, passage.ordinal, -found.rank AS score
        FROM (SELECT rowid AS key, rank FROM passage_words WHERE passage_words MATCH ? AND rank MATCH 'bm25(0, 1, 1)'
          ORDER BY rank LIMIT ?) AS found
        JOIN passage ON passage.key = found.key
        JOIN document ON document.id = passage.document AND document.edition = passage.edition
        WHERE passage.person = ? AND passage.collection IN (${query.collections.map(() => "?").join(", ")})${sql}
        ORDER BY found.rank LIMIT ?`,
      values: [matching(query), query.depth ?? query.limit, query.person, ...query.collections, ...values, query.limit],
    }
  },
  count({ words, collections, limit }) {
    return {
      sql: words
        .map(() => "SELECT count(*) AS n FROM (SELECT 1 FROM passage_words WHERE passage_words MATCH ? LIMIT ?)")
        .join(" UNION ALL "),
      values: words.flatMap((word) => [matching({ words: [word], collections }), limit]),
    }
  },
}

/** A text between quotes is a phrase, and quotes are no part of a word: there is nothing that could end it. */
function matching({ collections, words }: Pick<WordQuery, "collections" | "words">): string {
  const phrases = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join(" OR ")
  return `collection : (${phrases(collections)}) AND {heading text} : (${phrases(words)})`
}
