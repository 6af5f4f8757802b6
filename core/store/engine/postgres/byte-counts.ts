import { type ByteCounts, isOverLimit, ownerOf, rowBytes, STORAGE_FULL } from "../byte-counts.ts"

/**
 * Each change adds a row with the difference. One row per person would make all commits of a person wait for each
 * other, and two groups of commits could deadlock.
 */
export const postgresByteCounts: ByteCounts = {
  makeTables: [
    "CREATE TABLE storage_use (person TEXT NOT NULL, source TEXT NOT NULL, bytes BIGINT NOT NULL)",
    "CREATE INDEX storage_use_person ON storage_use (person)",
    "CREATE TABLE storage_limit (bytes BIGINT NOT NULL)",
  ],
  triggers(table) {
    const { table: name, refuses } = table
    const rows = (from: "added" | "removed", sign: "" | "-") =>
      `SELECT ${ownerOf(table, from)} AS person, ${sign}(${rowBytes(table, from)}) AS bytes FROM ${from}`
    const add = (from: string) => `INSERT INTO storage_use (person, source, bytes)
          SELECT person, '${name}', sum(bytes) FROM (${from}) AS changed
          WHERE person IS NOT NULL GROUP BY person HAVING sum(bytes) <> 0;`
    const refuse = (from: string) => `
          IF EXISTS (SELECT 1 FROM (SELECT person FROM (${from}) AS changed WHERE person IS NOT NULL
            GROUP BY person HAVING sum(bytes) > 0) AS grown WHERE ${isOverLimit("grown.person")})
          THEN RAISE EXCEPTION '${STORAGE_FULL}'; END IF;`
    const both = `${rows("added", "")} UNION ALL ${rows("removed", "-")}`
    const trigger = (what: string, on: string, tables: string) =>
      `CREATE TRIGGER storage_${name}_${what} AFTER ${on} ON ${name} REFERENCING ${tables}
        FOR EACH STATEMENT EXECUTE FUNCTION storage_${name}()`
    return [
      // PL/pgSQL plans a statement when it is first reached, so each kind of change has its own.
      `CREATE OR REPLACE FUNCTION storage_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'INSERT' THEN ${add(rows("added", ""))}${refuses ? refuse(rows("added", "")) : ""}
        ELSIF TG_OP = 'DELETE' THEN ${add(rows("removed", "-"))}
        ELSE ${add(both)}${refuses === "growth" ? refuse(both) : ""}
        END IF;
        RETURN NULL;
      END $$`,
      trigger("added", "INSERT", "NEW TABLE AS added"),
      trigger("removed", "DELETE", "OLD TABLE AS removed"),
      trigger("changed", "UPDATE", "NEW TABLE AS added OLD TABLE AS removed"),
    ]
  },
  dropTriggers: (table) =>
    ["added", "removed", "changed"].map((what) => `DROP TRIGGER IF EXISTS storage_${table}_${what} ON ${table}`),
  adds: "",
  // Rows that another transaction compacts are skipped, so each is added up once and no transaction waits.
  compact: `WITH gone AS (DELETE FROM storage_use WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM storage_use WHERE person = ? FOR UPDATE SKIP LOCKED)) RETURNING source, bytes)
    INSERT INTO storage_use (person, source, bytes)
      SELECT CAST(? AS TEXT), source, sum(bytes) FROM gone GROUP BY source HAVING sum(bytes) <> 0`,
}
