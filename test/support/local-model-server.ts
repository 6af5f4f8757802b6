import { chatReply, openLists, streamHead } from "../../core/models/providers/server.fixture.ts"

/** The endpoints of Ollama or LM Studio that Pawl uses, with these models; or a program that only serves pages. */
export const playLocalServer = (kind: "ollama" | "lmstudio" | "pages", ...models: string[]) =>
  openLists((response, { path }) => {
    if (kind === "pages") return response.writeHead(200, { "content-type": "text/html" }).end("<h1>My app</h1>")
    if (path.endsWith("/chat/completions")) return streamHead(response).end(chatReply("Hello."))
    const data = models.map((id) => ({ id, object: "model" }))
    if (path === "/v1/models")
      return response.end(JSON.stringify({ object: "list", data: data.length > 0 ? data : null }))
    if (path === "/api/version" && kind === "ollama") return response.end(JSON.stringify({ version: "0.21.0" }))
    if (path === "/api/tags" && kind === "ollama")
      return response.end(JSON.stringify({ models: models.map((model) => ({ name: model, model })) }))
    // LM Studio answers unknown paths with status 200 and an error.
    return response.end(JSON.stringify({ error: "Unexpected endpoint or method." }))
  })
