/** Writes the schema that a new SQLite database is made with, from the steps that lead to it: `npm run schema`. */
import { writeFileSync } from "node:fs"
import { printSqliteSchema } from "./sqlite-schema.ts"

writeFileSync(new URL("../src/store/migrations/sqlite-schema.ts", import.meta.url), await printSqliteSchema())
