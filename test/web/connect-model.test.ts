import { expect, test } from "vitest"
import { playLocalServer } from "../support/local-model-server.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { newContext } from "./browser/browser.ts"

test("a page without a model offers the local Ollama, connects it, and it answers the first suggestion", async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off", PAWL_LOCAL_MODEL_SERVERS: ollama.url }
  const [, link = ""] = await new PawlProcess(["serve"], settings).says(/(http\S+\/sign-in#\S+)[\s\S]*listening on/)
  const page = await (await newContext({ reducedMotion: "reduce" })).newPage()
  await page.goto(link)
  const offer = page.getByRole("region", { name: "Connect a model" })
  await offer.getByText("The offline model answers here.").waitFor()
  await offer.getByText("Ollama is running on this machine with qwen3:8b.").waitFor()
  expect(await page.getByText(/_API_KEY|_ENDPOINT/).count()).toBe(0)
  await offer.getByRole("button", { name: "Use Ollama" }).click()
  await offer.waitFor({ state: "detached" })
  await page.getByRole("button", { name: /create a task called Call Ada/ }).click()
  await page.getByRole("article", { name: "Pawl" }).getByText("Hello.").waitFor()
  await page.goto(new URL("/settings/models", link).href)
  const choice = page.getByRole("combobox", { name: "Default model" })
  await page.getByText("New conversations here use ollama/qwen3:8b.").waitFor()
  await choice.selectOption("offline")
  await page.getByText("New conversations here use offline.").waitFor()
  await page.reload()
  await expect.poll(() => choice.inputValue()).toBe("offline")
  expect(ollama.received.some(({ path }) => path.endsWith("/chat/completions"))).toBe(true)
})
