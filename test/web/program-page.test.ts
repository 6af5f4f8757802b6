import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, openPawl } from "../../core/index.ts"
import { scripted } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { newContext } from "./browser/browser.ts"

test("the page of a program has no Tasks, Notes, Library or databases if none of its agents uses them", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    effect: "read",
    run: () => "Seen.",
  })
  const agents = [{ name: "looker", tools: [look] }]
  await using pawl = await openPawl({ store: ":memory:", models: scripted(), agents })
  const { url, signInLink } = await pawl.listen({ port: 0, dataFolder: dataFolder() })
  const context = await newContext({ reducedMotion: "reduce" })
  const page = await context.newPage()
  await page.goto(signInLink)
  await page.getByRole("heading", { name: "What would you like to do?" }).waitFor()
  await page.getByText("looker").first().waitFor() // what the program has is known
  const names = await page.getByRole("navigation", { name: "Pawl" }).getByRole("link").allInnerTexts()
  expect(names.map((name) => name.split("\n")[0])).toEqual(
    expect.arrayContaining(["New conversation", "Inbox", "History"]),
  )
  expect(names.join("\n")).not.toMatch(/Tasks|Projects|Notes|Library/)
  await page.goto(`${url}/settings/models`)
  const settings = page.getByRole("list", { name: "Settings" })
  await settings.waitFor()
  await expect.poll(() => settings.getByRole("link").allInnerTexts()).not.toContain("Databases")
  await context.close()
})
