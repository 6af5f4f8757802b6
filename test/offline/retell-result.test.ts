import { expect, test } from "vitest"
import { retellResult } from "../../labs/offline-model/retell-result.ts"

const sql = "\n\n```sql\nSELECT 1\n```"
const table = (...lines: string[]) => lines.map((line) => `| ${line} |`).join("\n")

// The reply repeats the rows next to the text, once.
test.each([
  ["one value", `${table("customers", "---", "57")}\n\n1 row(s).${sql}`, "customers: 57."],
  [
    "a number for each name",
    `${table("month | revenue", "--- | ---", "01 | 5.5", "02 | 90071992547409931.10", "03 | 1")}\n\n3 row(s).${sql}`,
    "3 rows. The highest revenue is 90071992547409931.10 (02), the lowest 1 (03).",
  ],
  ["records", `${table("id | name", "--- | ---", "1 | a", "2 | b \\| c")}\n\n2 row(s).${sql}`, "2 rows."],
  ["nothing", `${table("id | name", "--- | ---")}\n\nNo rows.${sql}`, "No rows."],
  [
    "more than was read",
    `${table("n | m", "--- | ---", "1 | 1", "2 | 2", "3 | 3")}\n\nThe first 3 of 100 row(s); the person can see all of them, kept as res_1.${sql}`,
    "100 rows.",
  ],
])("the offline model reports %s in a sentence", (_, text, said) => {
  expect(retellResult(text)).toBe(said)
})
