import type { Browser } from "playwright-core"
import { afterAll, expect, test } from "vitest"
import { openBrowser } from "../../scripts/chromium.ts"
import { dataFolder, PawlProcess } from "../child.ts"

let browser: Promise<Browser> | undefined
afterAll(async () => (await browser)?.close())

test("somebody who has just started Pawl opens the printed link, chooses an example, approves it, and finds it done", async () => {
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" })
  const [, link = ""] = await server.says(/(http\S+\/sign-in#\S+)[\s\S]*listening on/)
  const page = await (await (browser ??= openBrowser())).newPage()
  await page.goto(link)
  await page.getByRole("heading", { name: "What shall we do?" }).waitFor()
  // What it is talking to, and how to get something better.
  await page.getByText("Connect a real one").click()
  await page.getByText("OPENAI_API_KEY").first().waitFor()

  await page.getByRole("button", { name: /create a task called Call Ada/ }).click()
  const card = page.getByRole("region", { name: /Create task "Call Ada"/ })
  await card.getByText("Exactly what is sent to").waitFor()
  await expect.poll(() => card.innerText()).toContain('"Call Ada"')
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByRole("article", { name: "Pawl" }).getByText("Task created: Call Ada").waitFor()
  await expect.poll(() => page.title()).toBe("create a task called Call Ada with high priority due… · Pawl")

  await page.getByRole("textbox", { name: "Message" }).fill("list my tasks")
  await page.keyboard.press("Enter")
  await page.getByRole("article", { name: "Pawl" }).getByText("Found 1 task").waitFor()
  await page.reload()
  await page.getByRole("article", { name: "Pawl" }).getByText("Task created: Call Ada").waitFor()
})

test("whoever is not signed in is told how to come in, on any address, and nothing else", async () => {
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" })
  const [, url = ""] = await server.says(/listening on (\S+)/)
  const page = await (await (browser ??= openBrowser())).newPage()
  await page.goto(`${url}/c/conv_of_somebody`)
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  expect(await page.getByText("npx pawl invite --user NAME").count()).toBe(1)
  expect(await page.getByRole("navigation").count()).toBe(0)
})
