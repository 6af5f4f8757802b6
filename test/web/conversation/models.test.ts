import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { ListedModel } from "../../../core/protocol/answers.ts"
import { oneIn } from "../../support/sizes.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { say } from "../browser/talk.ts"

const listed = (name: string, provider: string, need: string | null = null): ListedModel => ({
  ...{ name, provider, need, available: need === null },
  ...{ aliases: [], features: ["tools"], contextTokens: 100_000, price: { input: 3, output: 15 } },
  can: { tools: true, images: false, files: false, reasoning: false },
  sources: {
    ...{ contextTokens: "endpoint", price: "operator" },
    ...{ tools: "endpoint", images: "assumed", files: "assumed", reasoning: "assumed" },
  },
})

/** A model that an endpoint lists once it answers. */
const TOLD: ListedModel = {
  ...listed("open/told", "open"),
  ...{ contextTokens: 4096, maxContextTokens: 8192, features: ["images"] },
  can: { tools: false, images: true, files: false, reasoning: false },
}

/** As many models as a gateway offers, in random order. */
const MODELS = [
  ...Array.from({ length: 12 }, (_, at) => listed(`locked/model-${at}`, "locked", "set LOCKED_API_KEY")),
  ...Array.from({ length: 60 }, (_, at) => listed(`open/model-${at}`, "open")),
  listed("scripted", "scripted"),
]

const model = scripted(always(says("ok")))
/** How often its endpoint was requested by the person. */
let askedAgain = 0
const endpoint = { provider: "open", models: 60, leftOut: 0, answeredAt: null, problem: null }
const models = {
  get: async () => model,
  list: async () => MODELS,
  look: async (_: unknown, { refresh, waitMs = 0 }: { readonly refresh?: boolean; readonly waitMs?: number }) => {
    if (refresh) askedAgain++
    const state = refresh ? ("failed" as const) : waitMs > 0 ? ("answered" as const) : ("asking" as const)
    const problem = refresh ? "it could not be reached" : null
    return { items: waitMs > 0 ? [...MODELS, TOLD] : MODELS, endpoints: [{ ...endpoint, state, problem }] }
  },
  defaultName: async () => "open/model-47",
}
const visit = oneVisit({ instead: { models } })

/** One of them, by the seed, for behaviour that both share; both in the long run. */
const looks: readonly [string, { readonly width: number; readonly height: number }][] = [
  ["desktop", { width: 1280, height: 800 }],
  ["phone", { width: 360, height: 740 }],
]

test.each(oneIn(2, looks))(
  "on a %s the model menu shows available models and the selected one, with search and keyboard support",
  async (_name, viewport) => {
    const { page, faults } = await visit.begin(model)
    await page.setViewportSize(viewport)
    const trigger = page.getByRole("button", { name: /^Model:/ })
    await trigger.click()
    const list = page.getByRole("listbox", { name: "Available models" })
    await list.waitFor()
    // The endpoint's models are added once it has answered.
    await expect.poll(() => list.getByRole("option").count()).toBe(62)
    expect(await list.getByRole("option").filter({ hasText: "open/told" }).innerText()).toContain(
      "4k of 8k tokens · $3 in, $15 out per million · no tools, images",
    )
    await page
      .getByText("Reported by the endpoint: context window and tools. From the operator: price. Assumed:")
      .waitFor()
    expect(await page.getByText("locked/model-0").first().isVisible()).toBe(false)

    // The selected option is visible, and marked as selected for assistive technology.
    const chosen = list.getByRole("option", { selected: true })
    expect(await chosen.innerText()).toContain("open/model-47")
    const inSight = `(() => {
    const option = document.querySelector('[role=option][aria-selected=true]').getBoundingClientRect()
    const at = document.elementFromPoint(option.left + option.width / 2, option.top + option.height / 2)
    return at?.closest('[aria-selected=true]') !== null
  })()`
    expect(await page.evaluate(inSight)).toBe(true)
    const field = page.getByRole("combobox", { name: "Search models" })
    const pointed = async () => page.locator(`[id="${await field.getAttribute("aria-activedescendant")}"]`).innerText()
    expect(await pointed()).toContain("open/model-47")
    expect(await seriousFaultsInTurn(page)).toEqual([])

    const asked = askedAgain
    await page.getByRole("button", { name: "Refresh" }).click()
    await page.getByText("The models of open could not be loaded: it could not be reached").waitFor()
    expect(askedAgain).toBe(asked + 1)

    // Unavailable models are one line, which shows the reason when opened.
    await page.getByText("12 models unavailable").click()
    await page.getByText("To use them: set LOCKED_API_KEY").waitFor()

    await field.fill("images")
    await expect.poll(() => list.getByRole("option").count()).toBe(1)
    await field.fill("model-5")
    await expect.poll(() => list.getByRole("option").count()).toBe(11)
    await page.getByText("1 model unavailable").waitFor()
    expect(await pointed()).toContain("open/model-5")
    await field.press("ArrowDown")
    await expect.poll(pointed).toContain("open/model-50")
    await field.press("ArrowUp")
    await field.press("ArrowUp")
    await expect.poll(pointed).toContain("open/model-59")
    await field.press("Enter")
    await list.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Model: open/model-59" }).waitFor()

    // A search that finds only unavailable models shows them.
    await page.getByRole("button", { name: /^Model:/ }).click()
    await field.fill("locked/model-3")
    await page.getByText("No available model matches.").waitFor()
    await page.getByText("To use it: set LOCKED_API_KEY").waitFor()
    await page.keyboard.press("Escape")
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/^Model: /)
    expect(faults).toEqual([])
  },
)

test.each(oneIn(2, looks.toReversed()))(
  "on a %s reply settings are changed before the first message and later, by keyboard alone",
  async (_name, viewport) => {
    const { page, faults, ada } = await visit.begin(model)
    await page.setViewportSize(viewport)
    const panel = page.getByRole("dialog", { name: "Reply settings" })
    const field = (name: RegExp) => panel.getByLabel(name)
    await page.getByRole("button", { name: "Reply settings: default" }).press("Enter")
    await field(/^Effort/).waitFor()
    await field(/^Effort/).selectOption("high")
    await panel.getByText("It is unknown whether this model supports thinking").waitFor()
    await field(/^Temperature/).fill("3")
    await field(/^Temperature/).press("Enter")
    await panel.getByText("Temperature is a number from 0 to 2.").waitFor()
    expect(await seriousFaultsInTurn(page)).toEqual([])
    await field(/^Temperature/).fill("0.2")
    await field(/^Temperature/).press("Enter")
    await panel.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Reply settings: high effort · temperature 0.2" }).waitFor()
    await say(page, "hello")
    await page.getByText("ok", { exact: true }).waitFor()
    const id = page.url().split("/").at(-1)
    const settings = async () => (await ada.get(`/api/conversations/${id}`)).body.settings
    expect(await settings()).toEqual({ effort: "high", temperature: 0.2 })

    // Later: one setting is cleared, another is set; a refusal shows the server's message.
    await page.getByRole("button", { name: "Reply settings: high effort · temperature 0.2" }).press("Enter")
    await field(/^Temperature/).fill("")
    await field(/^Stop/).fill("END")
    await page.route(`**/api/conversations/${id}`, (route) =>
      route.fulfill({
        status: 409,
        contentType: "application/problem+json",
        body: JSON.stringify({ type: "about:blank", title: "busy", status: 409, detail: "Not now.", code: "busy" }),
      }),
    )
    await panel.getByRole("button", { name: "Save" }).press("Enter")
    await panel.getByRole("alert").getByText("Not now.").waitFor()
    await page.unroute(`**/api/conversations/${id}`)
    await panel.getByRole("button", { name: "Save" }).press("Enter")
    await page.getByRole("button", { name: "Reply settings: high effort · stop sequences" }).waitFor()
    expect(await settings()).toEqual({ effort: "high", stop: ["END"] })
    await page.getByRole("button", { name: /^Reply settings/ }).press("Enter")
    await panel.getByRole("button", { name: "Reset all" }).press("Enter")
    await page.getByRole("button", { name: "Reply settings: default" }).waitFor()
    expect((await settings()) ?? {}).toEqual({})
    expect(faults.filter((fault) => !fault.includes("409"))).toEqual([])
  },
)

test("if the model chosen last is unavailable, the page shows that and offers another", async () => {
  const { page, faults } = await visit.begin(model)
  await page.route(/\/api\/models(\?|$)/, async (route) => {
    const answer = await route.fetch()
    const unavailableChoice = { name: "gone/model", need: "set GONE_ENDPOINT, such as http://127.0.0.1:8000" }
    await route.fulfill({ response: answer, json: { ...(await answer.json()), unavailableChoice } })
  })
  await page.reload()
  const note = page.getByRole("status").filter({ hasText: "gone/model" })
  expect(await note.innerText()).toMatch(
    /^Your last model, gone\/model, is not available \(set GONE_ENDPOINT\)\. \S+ answers instead\./,
  )
  await note.getByRole("button", { name: "Choose another model" }).click()
  await page.getByRole("combobox", { name: "Search models" }).fill("model-12")
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Model: open/model-12" }).waitFor()
  expect(await note.count()).toBe(0)
  expect(faults).toEqual([])
})
