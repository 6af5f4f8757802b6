import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { sleep, systemClock } from "../../../core/shared/time/clock.ts"
import { type Client, readPages } from "../../../client/index.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import type { McpServerView } from "../../../core/protocol/mcp-servers.ts"
import { CommandError } from "../process/command.ts"
import { mcpText } from "../../strings/mcp.ts"

/** How often the server is asked whether the person has completed the sign-in. */
const POLL_MS = 1000

export interface SigningIn {
  /** Pawl runs in this process, so the browser must return to this command. */
  readonly isEmbedded: boolean
  readonly stopping: AbortSignal
  print(words: string): void
}

/**
 * Signs the person in to an MCP server: prints the address for their browser and waits until they return. For a remote
 * server they return to its page; for one in this process, to a temporary port of this machine.
 */
export async function signInTo(client: Client, name: string, how: SigningIn): Promise<McpServerView> {
  return how.isEmbedded ? throughThisMachine(client, name, how) : throughTheServer(client, name, how)
}

async function throughTheServer(client: Client, name: string, { print, stopping }: SigningIn): Promise<McpServerView> {
  const { url } = await client.beginMcpSignIn({ params: { name }, body: {} })
  print(mcpText.openInSignedInBrowser(url))
  for (;;) {
    await sleep(systemClock, POLL_MS, stopping)
    if (stopping.aborted) throw notSignedIn(name)
    const servers = await readPages((query) => client.listMcpServers({ query }))
    const server = servers.find((each) => each.name === name)
    if (!server) throw new CommandError(mcpText.gone(name))
    if (server.signIn === "done") return server
  }
}

async function throughThisMachine(
  client: Client,
  name: string,
  { print, stopping }: SigningIn,
): Promise<McpServerView> {
  const listening = createServer()
  listening.listen(0, "127.0.0.1")
  await once(listening, "listening")
  try {
    const redirect = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/callback`
    const { url } = await client.beginMcpSignIn({ params: { name }, body: { redirect } })
    print(mcpText.openHere(url))
    return await waitForReturn(listening, stopping, async (answer) => client.finishMcpSignIn({ body: { answer } }))
  } catch (error) {
    throw stopping.aborted ? notSignedIn(name) : error
  } finally {
    listening.closeAllConnections()
    listening.close()
  }
}

/** Any web page can send requests to this port: one that does not belong to this sign-in is ignored. */
function waitForReturn(
  listening: Server,
  stopping: AbortSignal,
  finish: (answer: string) => Promise<McpServerView>,
): Promise<McpServerView> {
  return new Promise((resolve, reject) => {
    stopping.addEventListener("abort", () => reject(new Error("stopped")), { once: true })
    const answer = async ({ method, url = "" }: IncomingMessage, response: ServerResponse) => {
      // `//` is not a valid URL, and must not end this command.
      const { pathname, search } = URL.parse(url, "http://127.0.0.1") ?? { pathname: "", search: "" }
      if (method !== "GET" || pathname !== "/callback" || search.length < 2)
        return respond(response, 404, mcpText.pageNotFound)
      try {
        const server = await finish(search.slice(1))
        respond(response, 200, mcpText.pageDone(server.name))
        response.on("close", () => resolve(server))
      } catch (error) {
        respond(response, 400, error instanceof Error ? error.message : mcpText.pageFailed)
        if (!hasCode(error, "mcp_sign_in_not_begun")) response.on("close", () => reject(error as Error))
      }
    }
    listening.on("request", (request, response) => void answer(request, response))
  })
}

function respond(response: ServerResponse, status: number, words: string): void {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
  response.writeHead(status, { ...headers, connection: "close" }).end(`${words}\n`)
}

const notSignedIn = (name: string): CommandError => new CommandError(mcpText.notSignedIn(name))
