import { expect, test } from "vitest"
import { calls, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { oneIn } from "../support/sizes.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { seriousFaultsInBothColours } from "./browser/serious-faults.ts"
import { say } from "./browser/talk.ts"

const TEXT = `# A heading

Some *text* with \`code\`, a [link](https://example.org) and an image ![of a cat](https://example.org/cat.png).

- [x] done
- [ ] to do

| Name | Number |
|---|---|
| One | 1 |

\`\`\`ts
const answer: number = 42 // why
\`\`\`

> Quoted.
`

const visit = oneVisit()

test("axe finds no serious fault in light and dark mode", async () => {
  const model = scripted(
    replies(says(TEXT), calls(["list_tasks"], ["create_task", { title: "x" }], ["create_task", { title: "y" }])),
    says("Done."),
  )
  // With reduced motion: an element that fades in is half transparent for a moment, with too little contrast.
  const { page } = await visit.begin(model)
  // Each check takes seconds: a quarter of them by the seed, all in the long run.
  const chosen = oneIn(4, ["first screen", "models", "changes", "forms", "modes", "confirm", "drawer"])
  const look = async (what: string) =>
    chosen.includes(what) && expect(await seriousFaultsInBothColours(page, what)).toEqual([])
  await page.getByRole("list", { name: "Suggestions for Workspace" }).waitFor()
  await look("first screen")
  await page.getByRole("button", { name: /^Model:/ }).click()
  await page.getByRole("combobox", { name: "Search models" }).waitFor()
  await look("models")
  await page.keyboard.press("Escape")
  await say(page, "Show me")
  await page.getByText("2 changes need your approval.").waitFor()
  await page.locator(".hljs-keyword").first().waitFor()
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
  await look("changes")
  await page.getByRole("button", { name: "Edit", exact: true }).first().click()
  await page.getByRole("button", { name: "Reject", exact: true }).first().click()
  await look("forms")
  await page.getByRole("button", { name: "Approve all" }).click()
  await page.getByText("Done.", { exact: true }).waitFor()
  await page.getByRole("button", { name: /^Mode:/ }).click()
  await look("modes")
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await look("confirm")
  await page.keyboard.press("Escape")
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole("button", { name: "Open the list of conversations" }).click()
  await look("drawer")
})
