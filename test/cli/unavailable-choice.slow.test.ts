import { expect, test, vi } from "vitest"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys, TerminalProcess } from "../terminal/terminal.ts"

vi.setConfig({ testTimeout: 180_000 })

test("if the last chosen model is no longer available, stderr names it and the model that answers instead", async () => {
  await using provider = await ProviderServer.open((response) => streamHead(response).end(chatReply("Hi there.")))
  const data = dataFolder()
  const chat = { PAWL_DATA: data, LM_STUDIO_ENDPOINT: provider.url }
  {
    await using terminal = new TerminalProcess(["chat", "--trust"], chat, { cwd: dataFolder() })
    await terminal.shows("lists keys and commands")
    terminal.type("/model qwen/qwen3-8b", keys.enter)
    await terminal.shows("Model: qwen/qwen3-8b")
    terminal.type(keys.endOfInput)
    await terminal.ended
  }
  const says = "Your last model, qwen/qwen3-8b, is not available (set LM_STUDIO_ENDPOINT). offline answers instead."
  const { code, stderr } = await command(["exec", "hello"], { PAWL_DATA: data })
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${says}\n`)])
  expect((await command(["exec", "--model", "offline", "hello"], { PAWL_DATA: data })).stderr).not.toContain(says)
  await using terminal = new TerminalProcess(["chat", "--trust"], { PAWL_DATA: data }, { cwd: dataFolder() })
  await terminal.shows("! Your last model, qwen/qwen3-8b, is not")
})
