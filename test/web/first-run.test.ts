import { writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { openFilesDevice } from "../../apps/cli/open/files-device.ts"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { newContext } from "./browser/browser.ts"
import { seriousFaultsInTurn } from "./browser/serious-faults.ts"
import { go } from "./browser/talk.ts"

// One process, started as a new user starts it, and one browser that signs in by the printed link: starting either costs
// more than any of these tests. Each test opens the page it needs, so their order does not matter.

const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" }
const PHONE = { width: 360, height: 740 }

const started = once(async () => {
  const [, link = "", url = ""] = await new PawlProcess(["serve"], settings).says(
    /(http\S+\/sign-in#\S+)[\s\S]*listening on (\S+)/,
  )
  return { link, url }
})

const mine = once(() => newContext({ reducedMotion: "reduce" }))

/** A tab that is not signed in. */
const strangers = once(async () => (await newContext({ viewport: PHONE, reducedMotion: "reduce" })).newPage())

/** The tab that signed in by the link. */
const signedIn = once(async () => {
  const page = await (await mine()).newPage()
  await page.goto((await started()).link)
  await page.getByRole("heading", { name: "What would you like to do?" }).waitFor()
  return page
})

function once<Value>(open: () => Promise<Value>): () => Promise<Value> {
  let opened: Promise<Value> | undefined
  return () => (opened ??= open())
}

test("without a session, every address shows only how to sign in", async () => {
  const { url } = await started()
  const page = await strangers()
  await page.goto(`${url}/c/conv_of_somebody`)
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  expect(await page.getByText("npx pawl invite --user NAME").count()).toBe(1)
  expect(await page.getByRole("navigation").count()).toBe(0)
})

test("a new user opens the printed link, chooses an example, approves it, and finds it done", async () => {
  const page = await signedIn()
  // The page names the current model, and links to better ones.
  await page.getByText("The offline model answers here. It understands only fixed requests").waitFor()
  await page.getByRole("link", { name: "Connect a model" }).click()
  await page.getByRole("heading", { name: "Providers" }).waitFor()
  await page.goBack()

  await page.getByRole("button", { name: /create a task called Call Ada/ }).click()
  const card = page.getByRole("article", { name: /Create task "Call Ada"/ })
  await card.getByText("Raw request").waitFor()
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

test("a used sign-in link shows a page that explains it and the next step, and leads nowhere else", async () => {
  await signedIn()
  const { link } = await started()
  const page = await strangers()
  const [answer] = await Promise.all([page.waitForResponse("**/api/auth/sign-in"), page.goto(link)])
  expect(answer.status()).toBe(401)
  await page.getByRole("heading", { name: "This link has expired" }).waitFor()
  await page.getByText("already used or is too old").waitFor()
  await page.getByText("npx pawl invite --user NAME").waitFor()
  expect(await page.getByRole("button").count()).toBe(0)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false)

  // A person who is already signed in confirms, stays signed in, and returns to the page.
  const again = await (await mine()).newPage()
  await again.goto(link)
  await again.getByRole("button", { name: "Sign in" }).click()
  await again.getByText("You are signed in as:").waitFor()
  await again.getByRole("link", { name: "Go to Pawl" }).click()
  await again.getByRole("heading", { name: "What would you like to do?" }).waitFor()
  await again.close()
})

test("the first screen shows all agents with suggestions; a click sends one, and the conversation names its agent, also on a phone", async () => {
  const { url } = await started()
  const page = await signedIn()
  await page.setViewportSize(PHONE)
  await go(page, "/")
  const agents = page.getByRole("list", { name: "Agents" })
  await agents.waitFor()
  const names = await agents.locator("> li > button").allInnerTexts()
  expect(names.map((text) => text.split("\n")[0])).toEqual(["Workspace", "Analyst", "Research", "Files"])
  // Each agent has its own sentence.
  for (const text of names) expect(text.split("\n").filter(Boolean)[1]?.length).toBeGreaterThan(20)
  const firstOf = (agent: string) => page.getByRole("list", { name: `Suggestions for ${agent}` })
  for (const agent of ["Workspace", "Analyst", "Research"]) {
    expect(await firstOf(agent).getByRole("button").count()).toBe(3)
  }
  // Without a folder the agent has no suggestions, and the card says how to add one.
  await agents.getByText("No folder is connected.").waitFor()
  await agents.getByText(`npx pawl chat --server ${url}`).waitFor()
  expect(await firstOf("Files").count()).toBe(0)
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false)
  expect(await seriousFaultsInTurn(page)).toEqual([])

  // A database question works with one click on a machine without a database.
  await firstOf("Analyst").getByRole("button", { name: "how many customers are from Portugal?" }).click()
  await page.getByRole("cell").first().waitFor()
  await page.locator("header").getByText("Analyst").waitFor()
  await page.getByRole("button", { name: "Open the list of conversations" }).click()
  const entry = page
    .getByRole("navigation")
    .getByRole("link", { name: "how many customers are from Portugal?", exact: true })
  expect(await entry.getAttribute("title")).toBe("Analyst")
  await page.getByRole("link", { name: "New conversation" }).click()

  // A terminal started in a folder is found without a reload.
  const root = dataFolder()
  writeFileSync(join(root, "a.txt"), "hello\n")
  const token = (await pawl(["token", "create", "--user", userInfo().username], settings)).stdout.trim()
  const mine = { PAWL_TOKEN: token, PAWL_DATA: dataFolder(), PATH: process.env.PATH, HOME: root }
  await using _device = await openFilesDevice(readConfig(mine), { server: url, dir: root })
  await firstOf("Files").waitFor()
  await agents.getByRole("button", { name: /^Files/ }).click()
  await page.getByRole("textbox", { name: "Message" }).fill("read a.txt")
  await page.getByRole("button", { name: "Send", exact: true }).click()
  await page.getByRole("article", { name: "Pawl" }).getByText("hello").waitFor()
  await page.locator("header").getByText("Files").waitFor()
})

test("the admin connects Ollama of the same machine in the page, and it answers", async () => {
  const lists = { models: [{ name: "qwen3:8b" }] }
  await using ollama = await ProviderServer.open(
    (response, { path }) =>
      path.endsWith("/api/tags")
        ? response.end(JSON.stringify(lists))
        : path.endsWith("/chat/completions")
          ? streamHead(response).end(chatReply("Hi from this machine."))
          : response.writeHead(404).end(),
    { lists: true },
  )
  const page = await signedIn()
  await page.setViewportSize({ width: 1280, height: 800 })
  await go(page, "/settings")
  const provider = page.getByRole("listitem").filter({ hasText: /^Ollama/ })
  await provider.getByRole("button", { name: "Set up" }).click()
  await provider.getByLabel("Address").fill(ollama.url)
  // The page reloads the list of models, and the person is faster.
  const { promise: listIsOpen, resolve: openList } = Promise.withResolvers<void>()
  await page.route("**/api/tools", (route) => listIsOpen.then(() => route.continue()))
  await provider.getByRole("button", { name: "Save" }).click()
  await provider.getByText(ollama.url).waitFor()

  await go(page, "/")
  await page.getByRole("button", { name: /Model/ }).first().click()
  await page.getByRole("combobox", { name: "Search models" }).waitFor()
  openList()
  await page.getByRole("option", { name: /ollama\/qwen3:8b/ }).click()
  await page.getByRole("textbox", { name: "Message" }).fill("Hello.")
  await page.getByRole("button", { name: "Send", exact: true }).click()
  await page.getByRole("article", { name: "Pawl" }).getByText("Hi from this machine.").waitFor()
})
