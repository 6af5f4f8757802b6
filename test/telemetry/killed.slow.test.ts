import { expect, test } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { call, type Server, settings, start, tokenOf } from "../support/processes/server-lives.ts"
import { Visitor } from "../support/server/face.ts"
import { OtlpReceiver, treeOf } from "./otlp-receiver.ts"

test(
  "the unexported work of a killed process is in one trace with the work of the next process",
  { timeout: 120_000 },
  async () => {
    await using receiver = await OtlpReceiver.open()
    let server: Server | undefined
    let isDeadly = true
    await using provider = await ProviderServer.open((response, { body }) => {
      const hasLooked = body.messages.some(({ role }: { role: string }) => role === "tool")
      streamHead(response)
      if (!hasLooked) return response.end(call("list_tasks"))
      if (!isDeadly) return response.end(chatReply("All done."))
      isDeadly = false
      response.write(sse(chatChunk({ role: "assistant", content: "I beg" })))
      server?.child.kill("SIGKILL")
    })
    const environment = { ...settings(provider), OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const token = await tokenOf(environment)
    server = await start(environment)
    const visitor = new Visitor(fetch, token, server.url)
    const id = await visitor.begin()
    visitor.say(id, "go").catch(() => {}) // the caller gets no answer
    await server.ended
    await using next = await start(environment)
    await receiver.told(({ name }) => name.startsWith("invoke_agent"))
    await next.kill("SIGTERM")

    const { spans } = receiver
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    const told = spans.filter(({ name }) => name !== "store commit")
    expect(treeOf(told)).toEqual([
      "invoke_agent workspace",
      "  step",
      "    chat qwen/qwen3-8b",
      "    execute_tool list_tasks",
      "  step",
      "    chat",
      "    chat qwen/qwen3-8b",
    ])
    expect(told.find(({ name }) => name === "chat")).toMatchObject({
      isError: true,
      attributes: { "error.type": "crash" },
    })
    expect(told.find(({ name }) => name === "chat qwen/qwen3-8b")?.attributes).toMatchObject({
      "gen_ai.provider.name": "lmstudio",
    })
    expect(told.find(({ parentId }) => parentId === undefined)?.events).toContain("restarted")
  },
)
