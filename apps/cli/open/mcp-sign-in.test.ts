import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { expect, test } from "vitest"
import type { Client } from "../../../client/index.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { signInTo } from "./mcp-sign-in.ts"

async function statusOf(redirect: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(redirect)
  const [response] = (await once(get({ hostname, port, path }), "response")) as [IncomingMessage]
  response.resume()
  await once(response, "end")
  return response.statusCode
}

test("the port of a sign-in ignores requests of other web pages and waits for the issuer's answer", async () => {
  const told = Promise.withResolvers<string>()
  const client = {
    beginMcpSignIn: ({ body }: { body: { redirect: string } }) => (
      told.resolve(body.redirect),
      { url: "https://a.example" }
    ),
    finishMcpSignIn: async ({ body }: { body: { answer: string } }) => {
      if (body.answer !== "code=1") throw failure("mcp_sign_in_not_begun")
      return { name: "notes" }
    },
  } as unknown as Client
  const signal = new AbortController().signal
  const signedIn = signInTo(client, "notes", { isEmbedded: true, stopping: signal, print: () => {} })
  const redirect = await told.promise
  const odd = ["//", "/", "/callback", "/callback?code=2", "http://[/callback?code=1"]
  const statuses: unknown[] = []
  for (const path of odd) statuses.push(await statusOf(redirect, path))
  expect(statuses).toEqual([404, 404, 404, 400, 404])
  expect(await statusOf(redirect, "/callback?code=1")).toBe(200)
  expect(await signedIn).toEqual({ name: "notes" })
})
