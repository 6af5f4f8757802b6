import { type ByteCounts, isOverLimit, ownerOf, rowBytes, STORAGE_FULL } from "../byte-counts.ts"

const ADDS = "ON CONFLICT (person, source) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes"

/** One row per person and table: SQLite has one writer, so no write waits for it. */
export const sqliteByteCounts: ByteCounts = {
  makeTables: [
    `CREATE TABLE storage_use (
      person TEXT NOT NULL,
      source TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      PRIMARY KEY (person, source)) WITHOUT ROWID`,
    "CREATE TABLE storage_limit (bytes BIGINT NOT NULL)",
  ],
  triggers(table) {
    const { table: name, column, texts, sized, refuses } = table
    const [added, removed] = [rowBytes(table, "new"), rowBytes(table, "old")]
    const add = (row: "new" | "old", bytes: string) => `INSERT INTO storage_use (person, source, bytes)
        SELECT person, '${name}', ${bytes} FROM (SELECT ${ownerOf(table, row)} AS person)
        WHERE person IS NOT NULL ${ADDS};`
    const refuse = (condition: string) =>
      `SELECT RAISE(ABORT, '${STORAGE_FULL}') WHERE ${condition}${isOverLimit(ownerOf(table, "new"))};`
    const watched = [...new Set([column, ...texts, ...(sized === undefined ? [] : [sized])])].join(", ")
    return [
      `CREATE TRIGGER storage_${name}_added AFTER INSERT ON ${name} BEGIN
        ${add("new", added)}${refuses ? ` ${refuse("")}` : ""}
      END`,
      `CREATE TRIGGER storage_${name}_removed AFTER DELETE ON ${name} BEGIN
        ${add("old", `-(${removed})`)}
      END`,
      `CREATE TRIGGER storage_${name}_changed AFTER UPDATE OF ${watched} ON ${name}
      WHEN new.${column} IS NOT old.${column} OR ${added} <> ${removed} BEGIN
        ${add("old", `-(${removed})`)}
        ${add("new", added)}${refuses === "growth" ? ` ${refuse(`${added} > ${removed} AND `)}` : ""}
      END`,
    ]
  },
  dropTriggers: (table) =>
    ["added", "removed", "changed"].map((what) => `DROP TRIGGER IF EXISTS storage_${table}_${what}`),
  adds: ADDS,
}
