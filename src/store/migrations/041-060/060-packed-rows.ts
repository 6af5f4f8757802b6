import { packedSchema } from "../../engine/sqlite/packed-schema.ts"
import type { Migration } from "../migration.ts"

/**
 * On SQLite the rows of events are packed from now on, and `event` is a view (src/store/engine/sqlite/packed-events.ts). What
 * was written before stays as it lies there. An older version cannot write to a view, nor read what is packed; on
 * PostgreSQL, where two versions may stand side by side, nothing changes.
 */
export const packedRows: Migration = {
  name: "060_packed_rows",
  needs: { sqlite: "0.1.0" },
  statements: ({ packsRows }) => (packsRows ? [...packedSchema] : []),
}
