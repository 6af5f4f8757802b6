import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, inject, test } from "vitest"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { analystModel, wantsSql } from "./analyst-model.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { stateOf } from "./hostile-statements.ts"

const file = new URL("../../../shared/outside/chinook.sqlite", import.meta.url)

/** A question, what a model may write for it (the last is right), and the first row of the answer. */
const SMOKE: readonly (readonly [question: string, statements: readonly string[], first: readonly unknown[]])[] = [
  ["How many tracks are there?", ["SELECT count(*) FROM Track"], [3503]],
  [
    "Which genre has the most tracks?",
    [
      "SELECT Genre, count(*) FROM Track GROUP BY Genre",
      "SELECT g.Name, count(*) AS tracks FROM Track t JOIN Genre g USING (GenreId) GROUP BY g.Name ORDER BY tracks DESC LIMIT 1",
    ],
    ["Rock", 1297],
  ],
  [
    "Where do we earn most?",
    [
      "SELECT Country, sum(Total) FROM Invoice GROUP BY Country",
      "DELETE FROM Invoice",
      "-- by country\nSELECT BillingCountry, round(sum(Total), 2) AS total FROM Invoice GROUP BY 1 ORDER BY 2 DESC",
    ],
    ["USA", 523.06],
  ],
  [
    "What was sold in each year?",
    ["SELECT strftime('%Y', InvoiceDate) AS year, count(*) AS invoices FROM Invoice GROUP BY year ORDER BY year"],
    [expect.stringMatching(/^20\d\d$/), expect.any(Number)],
  ],
  ["Who has no e-mail?", ["SELECT FirstName, LastName FROM Customer WHERE Email IS NULL"], []],
]

/** Skipped if the folder of external material is missing. */
describe.runIf(existsSync(file))("a real music shop", { timeout: 180_000 }, () => {
  async function open(model: Parameters<typeof Face.open>[0]["model"]) {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "outside-"))
    mkdirSync(join(root, "shared"))
    copyFileSync(fileURLToPath(file), join(root, "shared", "chinook.sqlite"))
    const face = await Face.open({ url: (await databases[0]!.create()).url, model, sqliteRoot: root })
    const ada = await face.as("ada")
    const target = { name: "Chinook", kind: "sqlite", path: "shared/chinook.sqlite" }
    const { body } = await ada.post("/api/connections", target)
    const id = await ada.begin({ agent: "analyst", connectionId: body.id })
    return { ada, id, root, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
  }

  test("answers a smoke set after failed statements, and is unchanged", async () => {
    const model = analystModel(...SMOKE.flatMap(([, statements]) => statements.map((sql) => says(sql))))
    await using world = await open(model)
    const before = stateOf(world.root)
    for (const [question, statements, first] of SMOKE) {
      const { body } = await world.ada.say(world.id, question)
      const { data } = body.messages.find(({ role }: { role: string }) => role === "tool")
      expect(data?.sql, question).toBe(statements.at(-1))
      expect(data.rows[0] ?? []).toEqual(first)
    }
    const systems = model.received.filter(({ request }) => wantsSql(request)).map(({ request }) => request.system)
    for (const system of systems) expect(system).toContain("## Invoice (table")
    expect(stateOf(world.root)).toBe(before)
  })

  test("is counted without a model, too", async () => {
    await using world = await open(offlineModel())
    const { body } = await world.ada.say(world.id, "How many rows are in Track?")
    expect(body.messages.at(-1).content).toBe("rows: 3503.")
  })
})
