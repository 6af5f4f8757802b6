import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { newContext } from "../support/web/browser.ts"
import { seriousFaultsInTurn } from "../support/web/serious-faults.ts"

test("somebody who has just started Pawl opens the printed link, chooses an example, approves it, and finds it done", async () => {
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" })
  const [, link = ""] = await server.says(/(http\S+\/sign-in#\S+)[\s\S]*listening on/)
  const page = await (await newContext()).newPage()
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
  const page = await (await newContext()).newPage()
  await page.goto(`${url}/c/conv_of_somebody`)
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  expect(await page.getByText("npx pawl invite --user NAME").count()).toBe(1)
  expect(await page.getByRole("navigation").count()).toBe(0)
})

test("a link that was used before leads to a page that says so and what to do, and to nowhere else", async () => {
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" })
  const [, link = ""] = await server.says(/(http\S+\/sign-in#\S+)[\s\S]*listening on/)
  const mine = await newContext()
  const first = await mine.newPage()
  await first.goto(link)
  await first.getByRole("heading", { name: "What shall we do?" }).waitFor()

  const stranger = await newContext({ viewport: { width: 360, height: 740 } })
  const page = await stranger.newPage()
  const [answer] = await Promise.all([page.waitForResponse("**/api/auth/sign-in"), page.goto(link)])
  expect(answer.status()).toBe(401)
  await page.getByRole("heading", { name: "This link is spent" }).waitFor()
  await page.getByText("used before or is too old").waitFor()
  await page.getByText("npx pawl invite --user NAME").waitFor()
  expect(await page.getByRole("button").count()).toBe(0)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false)

  // Whoever is in already is asked, stays in, and finds the way back.
  const again = await mine.newPage()
  await again.goto(link)
  await again.getByRole("button", { name: "Sign in" }).click()
  await again.getByText("You are still signed in as").waitFor()
  await again.getByRole("link", { name: "Go to Pawl" }).click()
  await again.getByRole("heading", { name: "What shall we do?" }).waitFor()
})
