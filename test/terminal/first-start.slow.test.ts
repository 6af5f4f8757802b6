import { expect, test } from "vitest"
import { playLocalServer } from "../support/local-model-server.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys, TerminalProcess } from "./terminal.ts"
import { folder } from "./terminal-world.ts"

const chat = (settings: Record<string, string>) =>
  new TerminalProcess(["chat", "--trust"], settings, { cwd: folder(), columns: 120 })

test("without a model, pawl chat says in two lines what answers and how to connect Ollama, and /connect does it", async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b", "llama3.2")
  const settings = { PAWL_DATA: dataFolder(), PAWL_LOCAL_MODEL_SERVERS: ollama.url }
  {
    await using terminal = chat(settings)
    await terminal.shows("The offline model answers here. It understands only a few fixed requests")
    await terminal.shows("Ollama is running on this machine (qwen3:8b, llama3.2). To use it, type /connect.")
    expect(terminal.output).not.toMatch(/_API_KEY|_ENDPOINT/)
    terminal.type("/connect", keys.enter)
    await terminal.shows("Connected Ollama. ollama/qwen3:8b answers from now on.")
    terminal.type("Hi.", keys.enter)
    await terminal.shows("Hello.")
    terminal.type("/connect", keys.enter)
    await terminal.shows("A provider is connected already.")
  }
  // It stays connected, and the chosen model answers without another hint.
  await using again = chat(settings)
  await again.shows("ollama/qwen3:8b")
  expect(again.output).not.toMatch(/offline model|answers here/)
})

test("if no model runs on this machine, the two lines say what to start or to set", async () => {
  await using terminal = chat({ PAWL_DATA: dataFolder(), PAWL_LOCAL_MODEL_SERVERS: "off" })
  await terminal.shows("The offline model answers here.")
  await terminal.shows("start Ollama or LM Studio and type /connect, or set a key such as OPENAI_API_KEY.")
  terminal.type("/connect", keys.enter)
  await terminal.shows("Neither Ollama nor LM Studio responds on this machine.")
  terminal.type("/model", keys.enter)
  await terminal.shows("other models need a key or an address")
  expect(terminal.output.match(/_API_KEY/g)?.length).toBeLessThan(4)
})

test("with a provider, the two lines name the model and the command that chooses another, at the first start only", async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  const settings = { PAWL_DATA: dataFolder(), OLLAMA_HOST: ollama.url }
  {
    await using terminal = chat(settings)
    await terminal.shows("ollama/qwen3:8b answers here.")
    await terminal.shows("/model lists the models that you can use, and /model NAME chooses one.")
    terminal.type("Hi.", keys.enter)
    await terminal.shows("Hello.")
  }
  await using again = chat(settings)
  await again.shows("· ollama/qwen3:8b · files")
  expect(again.output).not.toContain("answers here")
})
