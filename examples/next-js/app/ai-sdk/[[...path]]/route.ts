const PAWL_URL = process.env.PAWL_URL ?? "http://127.0.0.1:7295"

/** The token of the user who is signed in to your app. Create one for each user: `npx pawl token create --user NAME`. */
const tokenOf = (_request: Request) => process.env.PAWL_TOKEN ?? ""

/** Forwards the requests of useChat to Pawl. The browser never sees the token. */
async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const response = await fetch(`${PAWL_URL}${pathname}${search}`, {
    method: request.method,
    headers: { authorization: `Bearer ${tokenOf(request)}`, "content-type": "application/json" },
    ...(request.method === "GET" ? {} : { body: await request.text() }),
    // A closed page ends the stream, not the run.
    signal: request.signal,
  })
  const headers = { "content-type": response.headers.get("content-type") ?? "text/plain", "cache-control": "no-store" }
  return new Response(response.body, { status: response.status, headers })
}

export const dynamic = "force-dynamic"
export { forward as GET, forward as POST }
