import type { ClientBase } from "pg"

/** The index that holds a table to having each of these values once. One that is not valid, as a crash may have left it, does not. */
export async function findUnique(
  client: ClientBase,
  table: string,
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
): Promise<string | undefined> {
  const sql = `SELECT i.indexrelid::regclass::text AS index FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) = $2
    ORDER BY c.relname = $3 DESC LIMIT 1`
  const { rows } = await client.query<{ index: string }>(sql, [table, columns, name])
  return rows[0]?.index
}
