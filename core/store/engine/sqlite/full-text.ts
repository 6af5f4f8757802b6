import { daysCondition, type FullText, type WordQuery } from "../full-text.ts"
import { isWordPrefix } from "../text-grams.ts"

/**
 * FTS5 with Porter stems, ranked by BM25. It stores no copy of the text, and triggers update it. The collection is
 * indexed as a word with weight 0, so that a search does not scan other people's passages.
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

    `CREATE VIRTUAL TABLE passage_grams USING fts5 (collection, grams, content='', contentless_delete=1,
      tokenize='unicode61')`,
    `CREATE TRIGGER passage_grams_added AFTER INSERT ON passage WHEN new.grams <> '' BEGIN
      INSERT INTO passage_grams (rowid, collection, grams) VALUES (new.key, new.collection, new.grams);
    END`,
    // A row may have had other grams before.
    `CREATE TRIGGER passage_grams_changed AFTER UPDATE OF grams ON passage BEGIN
      DELETE FROM passage_grams WHERE rowid = old.key;
      INSERT INTO passage_grams (rowid, collection, grams) SELECT new.key, new.collection, new.grams WHERE new.grams <> '';
    END`,
    `CREATE TRIGGER passage_grams_gone AFTER DELETE ON passage WHEN old.grams <> '' BEGIN
      DELETE FROM passage_grams WHERE rowid = old.key;
    END`,
  ],
  search(query) {
    const { sql, values } = daysCondition(query)
    const { table, weights } = TABLES[query.among]
    return {
      // CROSS JOIN fixes the order. Otherwise SQLite scans all passages of the person.
      sql: `SELECT passage.edition, passage.ordinal, -found.rank AS score
        FROM (SELECT rowid AS key, rank FROM ${table} WHERE ${table} MATCH ? AND rank MATCH 'bm25(${weights})'
          ORDER BY rank LIMIT ?) AS found
        CROSS JOIN passage ON passage.key = found.key
        CROSS JOIN document ON document.id = passage.document AND document.edition = passage.edition
        WHERE passage.person = ? AND passage.collection IN (${query.collections.map(() => "?").join(", ")})${sql}
        ORDER BY found.rank LIMIT ?`,
      values: [matching(query), query.depth ?? query.limit, query.person, ...query.collections, ...values, query.limit],
    }
  },
  count({ words, among, limit }) {
    const { table } = TABLES[among]
    // Counts everyone's passages: an estimate that costs a tenth of an exact count.
    return {
      sql: words
        .map(() => `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`)
        .join(" UNION ALL "),
      values: words.flatMap((word) => [anyWord([word], among), limit]),
    }
  },
}

/** Collections have weight 0. */
const TABLES = {
  words: { table: "passage_words", weights: "0, 1, 1" },
  grams: { table: "passage_grams", weights: "0, 1" },
} as const

/**
 * Matches the part of the collection's id that is a single word. A column filter costs a lookup per passage, so it is
 * used only for the word that is in all ids.
 */
function matching({ collections, words, among }: Pick<WordQuery, "collections" | "words" | "among">): string {
  const scope = collections.map((id) => quoted(id.slice(id.indexOf("_") + 1))).join(" OR ")
  return `(${scope}) AND ${words.includes("col") ? "{heading text} : " : ""}(${anyWord(words, among)})`
}

const anyWord = (words: readonly string[], among: WordQuery["among"]) =>
  words.map((word) => (among === "grams" && isWordPrefix(word) ? `${quoted(word)} *` : quoted(word))).join(" OR ")

/** Quoted text is a phrase. Words contain no quotes, so nothing can end it. */
const quoted = (text: string) => `"${text}"`
