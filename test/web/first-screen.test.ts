import { writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readPersonalConfig } from "../../src/cli/settings/config.ts"
import { openFilesDevice } from "../../src/cli/open/files-device.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { newContext } from "../support/web/browser.ts"
import { seriousFaultsInTurn } from "../support/web/serious-faults.ts"

test("the first screen shows all agents with first things to say; one click says one, and the conversation names its agent, also on a phone", async () => {
  const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" }
  await using server = new PawlProcess(["serve"], settings)
  const [, link = "", url = ""] = await server.says(/(http\S+\/sign-in#\S+)[\s\S]*listening on (\S+)/)
  const context = await newContext({
    viewport: { width: 360, height: 740 },
    reducedMotion: "reduce",
  })
  const page = await context.newPage()
  await page.goto(link)
  const agents = page.getByRole("list", { name: "Agents" })
  await agents.waitFor()
  const names = await agents.locator("> li > button").allInnerTexts()
  expect(names.map((text) => text.split("\n")[0])).toEqual(["Workspace", "Analyst", "Research", "Files"])
  // Each has a sentence of its own.
  for (const text of names) expect(text.split("\n").filter(Boolean)[1]?.length).toBeGreaterThan(20)
  const firstOf = (agent: string) => page.getByRole("list", { name: `First things to say to ${agent}` })
  for (const agent of ["Workspace", "Analyst", "Research"]) {
    expect(await firstOf(agent).getByRole("button").count()).toBe(3)
  }
  // Without a folder there is nothing to say to it, and the card says how there will be one.
  await agents.getByText("No folder is connected.").waitFor()
  await agents.getByText(`npx pawl chat --server ${url}`).waitFor()
  expect(await firstOf("Files").count()).toBe(0)
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false)
  expect(await seriousFaultsInTurn(page)).toEqual([])

  // A database question works with one click on a machine that has none yet.
  await firstOf("Analyst").getByRole("button", { name: "how many customers are from Portugal?" }).click()
  await page.getByRole("cell").first().waitFor()
  await page.locator("header").getByText("Analyst").waitFor()
  await page.getByRole("button", { name: "Open the list of conversations" }).click()
  const entry = page
    .getByRole("navigation")
    .getByRole("button", { name: "how many customers are from Portugal?", exact: true })
  expect(await entry.getAttribute("title")).toBe("Analyst")
  await page.getByRole("button", { name: "New conversation" }).click()

  // A terminal that is started in a folder is found without a reload.
  const root = dataFolder()
  writeFileSync(join(root, "a.txt"), "hello\n")
  const token = (await pawl(["token", "create", "--user", userInfo().username], settings)).stdout.trim()
  const mine = { PAWL_TOKEN: token, PAWL_DATA: dataFolder(), PATH: process.env.PATH, HOME: root }
  await using _device = await openFilesDevice(readPersonalConfig({}, mine), { server: url, dir: root })
  await firstOf("Files").waitFor()
  await agents.getByRole("button", { name: /^Files/ }).click()
  await page.getByRole("textbox", { name: "Message" }).fill("read a.txt")
  await page.getByRole("button", { name: "Send", exact: true }).click()
  await page.getByRole("article", { name: "Pawl" }).getByText("hello").waitFor()
  await page.locator("header").getByText("Files").waitFor()
})
