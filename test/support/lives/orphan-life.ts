/** Requests endless work in a child process, until a test kills it: `node orphan-life.ts <file> <script>`. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { SqliteChildren } from "../../../packs/analyst/sqlite/children.ts"
import { queryLimits } from "../../../packs/analyst/database/sql-guards.ts"

const [path = "", script = ""] = process.argv.slice(2)
const sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
const own = dirname(fileURLToPath(script))
const files = {
  reads: [own, ...["core", "packs", "node_modules"].map((name) => join(import.meta.dirname, "../../..", name))],
  writes: [own],
}
await new SqliteChildren(undefined, { script: new URL(script), files }).run(
  "ada",
  {
    path,
    folders: [dirname(path)],
    work: { type: "query", sql },
    limits: { ...queryLimits, seconds: 600 },
    guards: { statement: true, authorizer: true, readOnly: true },
  },
  new AbortController().signal,
)
