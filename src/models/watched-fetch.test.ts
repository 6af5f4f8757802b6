import { expect, test } from "vitest"
import { collect, ProviderServer, streamHead } from "./provider-server.fixture.ts"
import { ModelRegistry } from "./registry.ts"

test("a reply without end is broken off, and so is its connection", async () => {
  const closed = Promise.withResolvers<void>()
  await using server = await ProviderServer.open((response) => {
    streamHead(response).on("close", closed.resolve)
    const line = Buffer.alloc(1024 * 1024, "x")
    const pour = () => {
      while (!response.destroyed && response.write(line));
      response.once("drain", pour)
    }
    response.write("data: ")
    pour()
  })
  const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { retries: 0 } })
  await expect(collect(await models.get("qwen"))).rejects.toMatchObject({
    code: "provider_error",
    message: expect.stringContaining("longer than any answer"),
  })
  await closed.promise
})
