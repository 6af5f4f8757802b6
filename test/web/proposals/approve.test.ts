import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect, inject, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { changeTargets } from "../../analyst/change-targets.ts"
import type { Visitor } from "../../support/server/face.ts"
import { approveAtOnce, approveByHand } from "../browser/approve-cards.ts"
import { type Arguments, openPlace, recipesIn, someTexts, texts } from "../browser/every-write.ts"
import { isLong } from "../../support/sizes.ts"
import { Site } from "../browser/site.ts"
import { say } from "../browser/talk.ts"

// Arguments above some total length used to be impossible to approve.

/** Returns the tool calls that a message contains as JSON. */
const model = always(({ history }) => {
  const last = history.at(-1)
  return last?.role === "user" ? calls(...(JSON.parse(last.text) as [string, Arguments][])) : says("Done.")
})

async function openSite() {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
  mkdirSync(join(root, "shared"))
  const place = openPlace()
  const site = await Site.open({ model: scripted(model), tools: place.tools, sqliteRoot: root })
  const ada = await site.ada()
  const { id } = (await ada.get("/api/auth/me")).body.user
  const target = await changeTargets.sqlite(root, id)
  const { body } = await ada.post("/api/connections", { name: "Shop", ...target.connection, writable: true })
  return { site, ada, connectionId: body.id as string, recipes: recipesIn(place.root) }
}

/** Creates the proposals for these tool calls. */
async function propose(ada: Visitor, id: string, wanted: readonly [string, Arguments][]): Promise<string[]> {
  const { body, text } = await ada.say(id, JSON.stringify(wanted))
  expect(body.proposals, text.slice(-2000)).toHaveLength(wanted.length)
  return body.proposals.map((proposal: { id: string }) => proposal.id)
}

/** Approves everything in the inbox, the last one by hand. */
async function approve(page: Page, ada: Visitor, ids: readonly string[]): Promise<void> {
  await approveAtOnce(page, ids.slice(0, -1))
  for (const id of ids.slice(-1)) await approveByHand(page, id)
  for (const id of ids) {
    const read = async () => (await ada.get(`/api/agent/proposals/${id}`)).body.status
    await expect.poll(read, { message: id }).toBe("applied")
  }
}

const goTo = async (page: Page, name: string) => {
  await page.getByRole("navigation").getByRole("link", { name }).click()
  await page.getByRole("heading", { name, exact: true }).waitFor()
}

const AT_ONCE = 30

/** Texts for the tool at this index: all in the long run, else one, chosen by the seed and different from its neighbours'. */
const textsFor = (place: number): readonly string[] =>
  isLong ? someTexts : [someTexts[(place + inject("seed")) % someTexts.length] as string]

const UNDOES = [
  ...["remove_directories", "restore_checkpoint", "restore_client", "restore_file", "restore_note"],
  ...["restore_project", "restore_task", "restore_task_comment"],
]

test(
  "every tool that asks a person can be approved, whatever its arguments",
  {
    timeout: 600_000,
  },
  async () => {
    const { site, ada, connectionId, recipes } = await openSite()
    await using _ = site
    const { page, faults } = await site.visit({}, "/notes")
    const { agents } = site.face.pawl.ports
    const approved = new Set<string>()
    const toolOf = async (id: string) => (await ada.get(`/api/agent/proposals/${id}`)).body.tool as string

    // Several kinds at a time, because opening the inbox again costs as much as approving three.
    const waiting: string[] = []
    const approveAll = async () => {
      await goTo(page, "Inbox")
      await approve(page, ada, waiting.splice(0))
      // Decided proposals stay visible until the inbox is opened again. Leaving it draws only pending ones each time.
      await goTo(page, "Notes")
    }
    for (const [at, [tool, recipe]] of Object.entries(recipes).entries()) {
      const wanted: [string, Arguments][] = []
      for (const text of textsFor(at)) wanted.push([tool, await recipe(text, ada)])
      const id = await ada.begin({ agent: agents.get("workspace").tools.find(tool) ? "workspace" : "test" })
      // A tool with egress needs approval once the conversation holds private data and untrusted text.
      if (agents.get("test").tools.find(tool)?.egress) await ada.say(id, JSON.stringify([["bring_both", {}]]))
      waiting.push(...(await propose(ada, id, wanted)))
      if (waiting.length >= AT_ONCE) await approveAll()
      approved.add(tool)
    }

    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
    const texts = textsFor(Object.keys(recipes).length)
    const inserts = texts.map((text, index) => `INSERT INTO customer VALUES (${100 + index}, ${quoted(text)}, 'Rome')`)
    const updates = texts.map(
      (text, index) =>
        `UPDATE customer SET town = ${quoted(text)} WHERE id = ${100 + index} AND 0 < length(${quoted(text)})`,
    )
    for (const statements of [inserts, updates, ["DELETE FROM customer"]]) {
      for (const sql of statements) {
        const id = await ada.begin({ agent: "analyst", connectionId })
        waiting.push(...(await propose(ada, id, [["change_database", { sql, why: "Because." }]])))
      }
      // The next tools change rows that these create.
      await approveAll()
      approved.add("change_database")
    }

    // An undo is a proposal too, of tools that models cannot call.
    const { body } = await ada.get("/api/agent/audit?limit=200")
    const newest = new Map<string, string>()
    for (const { tool, id, inverse } of body.items.toReversed()) if (inverse) newest.set(tool, id)
    for (const id of newest.values()) {
      const undo = await ada.post(`/api/agent/audit/${id}/undo`)
      expect(undo.status, undo.text).toBe(201)
      waiting.push(undo.body.id)
      approved.add(await toolOf(undo.body.id))
    }
    await approveAll()

    // A new tool needs a recipe before this passes.
    const gated = agents.all.flatMap(({ tools }) =>
      tools.names.filter((name) => {
        const tool = tools.find(name)
        return tool?.effect === "write" || tool?.egress === true
      }),
    )
    expect(gated.filter((tool) => !approved.has(tool))).toEqual([])
    expect([...approved].filter((tool) => /^(restore|remove)_/.test(tool)).sort()).toEqual(UNDOES)
    expect(faults).toEqual([])
  },
)

test("all changes are approved at once after one look at everything, also if most of it is far above", async () => {
  const { site, recipes } = await openSite()
  await using _ = site
  const ada = await site.ada()
  const wanted: [string, Arguments][] = []
  for (const tool of ["create_task", "delete_task"])
    for (const text of texts) wanted.push([tool, (await recipes[tool]?.(text, ada)) ?? {}])
  const { page, faults } = await site.visit()
  await say(page, JSON.stringify(wanted))
  await page.getByText(`${wanted.length} changes need your approval`).waitFor()
  const all = page.getByRole("button", { name: "Approve all" })
  expect(await all.isDisabled()).toBe(true)
  const bar = page.locator("div", { has: all }).last()
  await bar.getByRole("button", { name: "Show the full text" }).click()
  await expect.poll(() => all.isEnabled()).toBe(true)
  await all.click()
  await page.getByText("Done.", { exact: true }).waitFor()
  const { body } = await ada.get("/api/agent/proposals?limit=100")
  expect(new Set(body.items.map(({ status }: { status: string }) => status))).toEqual(new Set(["applied"]))
  expect(faults).toEqual([])
})
