import { daysCondition, type FullText, wordsOf } from "./full-text.ts"

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
    const words = wordsOf(query.text)
    if (words.length === 0) return undefined
    const { sql, values } = daysCondition(query)
    // A text between quotes is a phrase, and quotes are no part of a word: there is nothing that could end it.
    const phrases = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join(" OR ")
    const match = `collection : (${phrases(query.collections)}) AND {heading text} : (${phrases(words)})`
    return {
      sql: `SELECT passage.edition, passage.ordinal, -bm25(passage_words, 0, 1, 1) AS score
        FROM passage_words JOIN passage ON passage.key = passage_words.rowid
        JOIN document ON document.id = passage.document AND document.edition = passage.edition
        WHERE passage_words MATCH ? AND passage.person = ?
          AND passage.collection IN (${query.collections.map(() => "?").join(", ")})${sql}
        ORDER BY bm25(passage_words, 0, 1, 1) LIMIT ?`,
      values: [match, query.person, ...query.collections, ...values, query.limit],
    }
  },
}
