import { expect, test, vi } from "vitest"
import { chatChunk, ProviderServer, sse, streamHead } from "../../../core/models/providers/server.fixture.ts"
import { NodeChat, textOf, type UiChat } from "../ai-sdk-client.ts"
import { settings, start, tokenOf } from "../../support/processes/server-lives.ts"
import { Visitor } from "../../support/server/face.ts"

vi.setConfig({ testTimeout: 180_000 })

const TEXT = "The whole answer, to the last word."

test("an answer interrupted by kill -9 of the server is resumed after the restart, by the open page and by a new one", async () => {
  let attempt = 0
  await using provider = await ProviderServer.open((response) => {
    const words = attempt++ < 1 ? TEXT.slice(0, 10) : TEXT
    streamHead(response).write(sse(...[...words].map((content) => chatChunk({ content }))))
    if (words === TEXT) response.end(sse(chatChunk({}, "stop"), "[DONE]"))
  })
  const environment = settings(provider)
  const headers = { authorization: `Bearer ${await tokenOf(environment)}` }
  let address = ""
  const transport = {
    ...{ headers, fetch: (url: string, init: RequestInit) => fetch(address + url, init), api: "/ai-sdk" },
  } as never
  const half = Promise.withResolvers<void>()
  const onChange = ({ lastMessage }: UiChat) => textOf(lastMessage).length >= 10 && half.resolve()
  const chat = new NodeChat({ transport, onChange })
  {
    await using first = await start(environment)
    address = first.url
    const answered = chat.sendMessage({ text: "Tell me." })
    await half.promise
    await first.kill("SIGKILL")
    await answered
    expect(chat.status).toBe("error")
  }
  await using second = await start(environment)
  address = second.url
  await chat.resumeStream()
  expect([chat.status, textOf(chat.lastMessage), chat.messages.length]).toEqual(["ready", TEXT, 2])
  const ada = new Visitor(fetch, headers.authorization.slice("Bearer ".length), second.url)
  const { messages, activeStreamId } = (await ada.get(`/ai-sdk/${chat.id}`)).body
  expect([messages.map(textOf), activeStreamId]).toEqual([["Tell me.", TEXT], null])
  const reloaded = new NodeChat({ id: chat.id, messages, transport })
  await reloaded.resumeStream()
  expect(reloaded.lastMessage).toEqual(messages.at(-1))
})
