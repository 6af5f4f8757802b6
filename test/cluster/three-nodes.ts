import { setTimeout as pause } from "node:timers/promises"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { openOwnPostgres } from "../support/processes/own-postgres.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"
import { Balancer } from "./balancer.ts"
import { LiveNode } from "./live-node.ts"

const PIECE_MS = 25

/** Three `pawl serve` behind a balancer, with a model that streams a sentence in pieces, and a token of Ada's. */
export async function openThreeNodes(reply: string, more: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack()
  const provider = stack.use(
    await ProviderServer.open(async (response) => {
      const stream = streamHead(response)
      for (const content of reply.match(/.{1,6}/gsu) ?? []) {
        stream.write(sse(chatChunk({ content })))
        await pause(PIECE_MS)
      }
      stream.end(sse(chatChunk({}, "stop"), "[DONE]"))
    }),
  )
  const postgres = stack.use(await openOwnPostgres())
  const balancer = stack.use(await Balancer.open())
  const environment = () => ({
    ...{ PAWL_DATA: dataFolder(), DATABASE_URL: postgres.url, MASTER_ENCRYPTION_KEY: "c".repeat(64) },
    ...{ LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen", ...more },
  })
  const token = (await pawl(["token", "create", "--user", "ada"], environment())).stdout.trim()
  const nodes: LiveNode[] = []
  for (let count = 0; count < 3; count++) nodes.push(stack.use(await LiveNode.start(environment(), balancer)))
  return { url: balancer.url, token, nodes, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
