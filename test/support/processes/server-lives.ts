import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../../core/models/providers/server.fixture.ts"
import type { Visitor } from "../server/face.ts"
import { dataFolder, PawlProcess } from "./pawl-process.ts"
import { tokenFor } from "./token-for.ts"
import { lifeNamed } from "./package.ts"

export const script = lifeNamed("server-life")
export type Environment = Record<string, string>
export type Server = PawlProcess & { readonly url: string }

export async function start(environment: Environment, words = ["serve"], program?: string): Promise<Server> {
  const server = new PawlProcess(words, { PAWL_PORT: "0", ...environment }, program ? { script: program } : {})
  const [, url] = await server.says(/listening on (\S+)\n/)
  return Object.assign(server, { url: url as string })
}
export const startLife = (environment: Environment) => start(environment, [], script)

export async function tokenOf(environment: Environment): Promise<string> {
  return await tokenFor(environment)
}

export const call = (name: string) => {
  const calls = [{ index: 0, id: "c", type: "function", function: { name, arguments: "{}" } }]
  return sse(chatChunk({ role: "assistant", tool_calls: calls }), chatChunk({}, "tool_calls"), "[DONE]")
}

/** Calls a tool once and then answers; a conversation that has a result gets text. */
export const callsOnce = (name: string) =>
  ProviderServer.open((response, { body }) => {
    const done = body.messages.some(({ role }: { role: string }) => role === "tool")
    streamHead(response).end(done ? chatReply("All done.") : call(name))
  })

export const settings = (provider: ProviderServer): Environment & { PAWL_DATA: string } => ({
  PAWL_DATA: dataFolder(),
  LM_STUDIO_ENDPOINT: provider.url,
  PAWL_MODEL: "qwen",
})

export const stateOf = async (ada: Visitor, id: string) => {
  const { body } = await ada.get(`/api/conversations/${id}/state`)
  return body
}

/** Polls until the condition holds; the server works by itself meanwhile. */
export async function until<T>(ask: () => Promise<T>, isSo: (value: T) => boolean, ms: number): Promise<T> {
  const deadline = Date.now() + ms
  for (;;) {
    const value = await ask()
    if (isSo(value)) return value
    if (Date.now() > deadline) throw new Error(`not so after ${ms} ms: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
