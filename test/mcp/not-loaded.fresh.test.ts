import { registerHooks } from "node:module"
import { expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

test("a server without an MCP server configured loads no MCP package", async () => {
  const loaded: string[] = []
  using _hooks = asDisposable(
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith("@modelcontextprotocol/")) loaded.push(specifier)
        return next(specifier, context)
      },
    }),
  )
  await using place = await anyDatabase[0]!.create()
  await using face = await Face.open({ url: place.url, model: scripted(says("Hello.")) })
  const ada = await face.as("ada")
  const { body } = await ada.post("/api/conversations", { agent: "test" })
  await ada.post(`/api/conversations/${body.id}/messages`, { text: "Hi." })
  await face.pawl.runtime.rest(body.id)
  expect((await ada.get("/api/mcp-servers")).body.items).toEqual([])
  expect(loaded).toEqual([])
})

const asDisposable = (hooks: { deregister(): void }) => ({ [Symbol.dispose]: () => hooks.deregister() })
