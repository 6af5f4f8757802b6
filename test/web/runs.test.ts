import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, finishes, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { seriousFaultsInTurn } from "./browser/serious-faults.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { go, say } from "./browser/talk.ts"

const visit = oneVisit()
const used = { inputTokens: 1812, outputTokens: 44, cachedTokens: 1200, cost: 0.0031 }
const timeline = (page: Page) => page.getByRole("list", { name: "Timeline" })

test("a run is shown live, row by row, with intermediate state, compared with another run, and by a shared link", async () => {
  const model = scripted(
    replies(calls("create_task", { title: "Buy milk" }), finishes("calls", used)),
    says("Milk is on your list."),
    says("Nothing else."),
  )
  const { page, ada, faults } = await visit.begin(model)
  const id = await ada.begin({ title: "Shopping" })
  const waiting = (await ada.say(id, "buy milk")).body
  await go(page, `/c/${id}`)
  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "Runs" }).click()
  await page.getByRole("list", { name: "Runs" }).getByRole("link").click()
  await timeline(page)
    .getByRole("button", { name: /Waiting for approval: Create task "Buy milk".*running/ })
    .waitFor()
  expect(await timeline(page).getByText("1,812 → 44 tokens, 1,200 cached, $0.0031").count()).toBe(1)

  // Another client decides, and the page updates.
  await ada.post(`/api/agent/proposals/${waiting.proposals[0].id}/commit`)
  await timeline(page)
    .getByRole("button", { name: /^Completed/ })
    .waitFor()
  await page.getByText(/The run (is waiting|continues)/).waitFor({ state: "detached" })

  // By keyboard alone: to the row of the tool call, into it, and to the state after it.
  await timeline(page)
    .getByRole("button", { name: /^Run started/ })
    .focus()
  for (let line = 0; line < 5; line++) await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  const ended = timeline(page).getByRole("group", { name: /^Row/ }).last()
  await ended.getByText('"status": "ok"').waitFor()
  expect(await timeline(page).getByRole("group", { name: "Arguments" }).innerText()).toContain('"title": "Buy milk"')
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await ended.getByRole("button", { name: "Show the state after it" }).click()
  const state = page.getByRole("group", { name: "State" })
  await state.getByText(/tool_end · changed .*openProposals/).waitFor()
  await state.getByText('"openProposals": []').waitFor()
  await state.getByRole("slider", { name: "Row" }).press("Home")
  await state.getByText(/run_started · changed/).waitFor()

  await page.getByRole("button", { name: "Rows", exact: true }).click()
  const lines = page.getByRole("list", { name: "Rows" }).locator("summary")
  await lines.first().focus()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.getByRole("group", { name: "Row 3" }).getByText('"text": "buy milk"').waitFor()

  // From a finished answer to its run, compared with the first run.
  await go(page, `/c/${id}`)
  await say(page, "anything else?")
  const answer = page.getByRole("article", { name: "Pawl" }).filter({ hasText: "Nothing else." })
  await answer.hover()
  await answer.getByRole("link", { name: "Run details" }).click()
  await timeline(page).getByText("Nothing else.").waitFor()
  expect(await timeline(page).getByText("Buy milk").count()).toBe(0)
  await page.getByRole("button", { name: "Compare" }).click()
  await page.getByRole("dialog").getByRole("link").click()
  const second = page.getByRole("region", { name: "Second run" })
  await second.getByText(/Waiting for approval/).waitFor()
  const calledIn = page.getByRole("row", { name: "Tool calls" }).getByRole("cell")
  expect(await calledIn.allInnerTexts()).toEqual(["0", "1"])

  // The dialog for a link says what the link shows; the link is opened, and revoked while it is open.
  await page.getByRole("link", { name: "Second run" }).click()
  await page.getByRole("button", { name: "Share" }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByText(/sees this run: your messages, the replies, the tool calls/).waitFor()
  await dialog.getByLabel("Expires after").selectOption("365 days")
  await dialog.getByRole("button", { name: "Create link" }).click()
  const link = new URL(await dialog.getByRole("status").locator("code").innerText())
  await go(page, link.pathname + link.hash)
  await page.getByRole("heading", { name: "Shared run" }).waitFor()
  await timeline(page).getByText("Milk is on your list.").waitFor()
  expect(await page.getByRole("button", { name: "State" }).count()).toBe(0)
  expect(await page.getByRole("main").innerText()).not.toContain("Nothing else.")
  await go(page, "/settings/shared")
  await page.getByRole("button", { name: "Revoke" }).click()
  await page.getByText("You have not shared any runs.").waitFor()
  await go(page, link.pathname + link.hash)
  await page.getByText(/Its owner may have revoked it/).waitFor()

  await go(page, "/runs/run_0000000000000000000")
  await page.getByText("This does not exist anymore, or you do not have access to it.").waitFor()
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([])
})
