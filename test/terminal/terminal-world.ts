import { mkdtempSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { TerminalProcess, type TerminalStart } from "./terminal.ts"

export const folder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "folder-"))
/** The line under a change that waits. */
export const APPROVAL_PROMPT = "yes / no / always / edit / none / all"

/** A reply that calls a tool. */
export const calls = (name: string, input: object) =>
  sse(
    chatChunk({
      role: "assistant",
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name, arguments: JSON.stringify(input) } }],
    }),
    chatChunk({}, "tool_calls"),
    "[DONE]",
  )

type Answer = string | ((response: ServerResponse) => unknown)

/** A provider that gives these answers in turn, and the settings of a Pawl that uses it. */
export async function provided(...answers: Answer[]) {
  const provider = await ProviderServer.open((response) => {
    const answer = answers.shift() ?? chatReply("Nothing more.")
    streamHead(response)
    return typeof answer === "string" ? response.end(answer) : answer(response)
  })
  const settings = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
  const cwd = folder()
  const open = (words: readonly string[] = [], environment: Record<string, string> = {}, start: TerminalStart = {}) =>
    new TerminalProcess(["chat", "--trust", ...words], { ...settings, ...environment }, { cwd, ...start })
  return { provider, settings, cwd, open, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() }
}
