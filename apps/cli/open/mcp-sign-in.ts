import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { sleep, systemClock } from "../../../core/shared/time/clock.ts"
import { type Client, readPages } from "../../../client/index.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import type { McpServerView } from "../../../core/protocol/mcp-servers.ts"
import { CommandError } from "../process/command.ts"
import { mcpText } from "../../strings/mcp.ts"

/** How often a server is asked whether its person has come back. */
const LOOK_MS = 1000

export interface SigningIn {
  /** Pawl is in this process, and nobody can be sent back to it but through this command. */
  readonly isHere: boolean
  readonly stopping: AbortSignal
  tell(words: string): void
}

/**
 * Signs the person in to an MCP server: prints where their browser goes, and waits until they have come back. To a server
 * they come back by its own page, in a browser that is signed in there; here, to a port of this machine that is open meanwhile.
 */
export async function signInTo(client: Client, name: string, how: SigningIn): Promise<McpServerView> {
  return how.isHere ? throughThisMachine(client, name, how) : throughTheServer(client, name, how)
}

async function throughTheServer(client: Client, name: string, { tell, stopping }: SigningIn): Promise<McpServerView> {
  const { url } = await client.beginMcpSignIn({ params: { name }, body: {} })
  tell(mcpText.openInSignedInBrowser(url))
  for (;;) {
    await sleep(systemClock, LOOK_MS, stopping)
    if (stopping.aborted) throw given(name)
    const servers = await readPages((query) => client.listMcpServers({ query }))
    const server = servers.find((each) => each.name === name)
    if (!server) throw new CommandError(mcpText.gone(name))
    if (server.signIn === "done") return server
  }
}

async function throughThisMachine(client: Client, name: string, { tell, stopping }: SigningIn): Promise<McpServerView> {
  const listening = createServer()
  listening.listen(0, "127.0.0.1")
  await once(listening, "listening")
  try {
    const redirect = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/callback`
    const { url } = await client.beginMcpSignIn({ params: { name }, body: { redirect } })
    tell(mcpText.openHere(url))
    return await cameBack(listening, stopping, async (answer) => client.finishMcpSignIn({ body: { answer } }))
  } catch (error) {
    throw stopping.aborted ? given(name) : error
  } finally {
    listening.closeAllConnections()
    listening.close()
  }
}

/** Any page of a browser can send something here: what is no answer to this sign-in changes nothing. */
function cameBack(
  listening: Server,
  stopping: AbortSignal,
  finish: (answer: string) => Promise<McpServerView>,
): Promise<McpServerView> {
  return new Promise((resolve, reject) => {
    stopping.addEventListener("abort", () => reject(new Error("stopped")), { once: true })
    const answer = async ({ method, url = "" }: IncomingMessage, response: ServerResponse) => {
      // `//` for one is no address at all, and must not end this command.
      const { pathname, search } = URL.parse(url, "http://127.0.0.1") ?? { pathname: "", search: "" }
      if (method !== "GET" || pathname !== "/callback" || search.length < 2)
        return say(response, 404, mcpText.pageNotFound)
      try {
        const server = await finish(search.slice(1))
        say(response, 200, mcpText.pageDone(server.name))
        response.on("close", () => resolve(server))
      } catch (error) {
        say(response, 400, error instanceof Error ? error.message : mcpText.pageFailed)
        if (!hasCode(error, "mcp_sign_in_not_begun")) response.on("close", () => reject(error as Error))
      }
    }
    listening.on("request", (request, response) => void answer(request, response))
  })
}

function say(response: ServerResponse, status: number, words: string): void {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
  response.writeHead(status, { ...headers, connection: "close" }).end(`${words}\n`)
}

const given = (name: string): CommandError => new CommandError(mcpText.notSignedIn(name))
