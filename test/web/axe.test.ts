import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, replies, says } from "../../src/models/script.ts"
import { scripted } from "../../src/models/scripted.ts"
import { Site } from "./site.ts"

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

/** What would keep somebody from using the page; what is merely odd is not counted. */
async function faultsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: page as never }).analyze()
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`)
}

test.each(["light", "dark"] as const)("axe finds nothing serious in %s", async (colorScheme) => {
  const model = scripted(
    replies(says(TEXT), calls(["list_tasks"], ["create_task", { title: "x" }], ["create_task", { title: "y" }])),
    says("Done."),
  )
  await using site = await Site.open({ model })
  const { page } = await site.visit({ colorScheme })
  await page.getByText("You could say").waitFor()
  expect(await faultsOf(page)).toEqual([])
  await page.getByRole("textbox", { name: "Message" }).fill("Show me")
  await page.keyboard.press("Enter")
  await page.getByText("2 changes wait for you.").waitFor()
  await page.locator(".hljs-keyword").first().waitFor()
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
  expect(await faultsOf(page)).toEqual([])
  await page.getByRole("button", { name: "Edit", exact: true }).first().click()
  await page.getByRole("button", { name: "Reject", exact: true }).first().click()
  expect(await faultsOf(page)).toEqual([])
  await page.getByRole("button", { name: "Approve all" }).click()
  await page.getByText("Done.", { exact: true }).waitFor()
  await page.getByRole("button", { name: /^Mode:/ }).click()
  expect(await faultsOf(page)).toEqual([])
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  expect(await faultsOf(page)).toEqual([])
  await page.keyboard.press("Escape")
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole("button", { name: "Open the list of conversations" }).click()
  expect(await faultsOf(page)).toEqual([])
})
