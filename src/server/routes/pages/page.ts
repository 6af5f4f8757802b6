import type { Context, Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { chartFrameHeaders } from "./chart-frame.ts"
import { etagOf, type PageFile, type PageFiles } from "./page-files.ts"
import type { ServerAddress } from "../../door/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Only what we serve ourselves runs, and only we are asked: whatever a model writes, a browser does nothing with it. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  // The frame that charts are drawn in, and nothing else: it could not be led elsewhere either.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ")

/** Their names change with what is in them. */
const FOR_EVER = "public, max-age=31536000, immutable"

export interface PagePorts {
  /** The page as it was built; undefined where nobody has. */
  readonly page?: PageFiles | undefined
  readonly address: ServerAddress
}

export function pageRoutes(app: Hono<Env>, ports: PagePorts): void {
  const home = lazyHome(ports)
  serveRoute(app, routes.home, (c) => sendFile(c, home()))

  app.get("/assets/:name", (c) => {
    const file = ports.page?.get(`assets/${c.req.param("name")}`)
    return file ? sendFile(c, file, { "cache-control": FOR_EVER }) : c.notFound()
  })

  let headers: Readonly<Record<string, string>> | undefined
  app.get("/chart-frame", (c) => {
    const frame = ports.page?.get("chart-frame.html")
    if (!frame) return c.notFound()
    headers ??= chartFrameHeaders(new TextDecoder().decode(frame.body))
    return sendFile(c, frame, headers)
  })
}

/** Answers what a person opens in a browser and no route knows with the page, which finds its way by the address. */
export function createPage(ports: PagePorts): (c: Context<Env>) => Response | undefined {
  const home = lazyHome(ports)
  return (c) => (isOpened(c) ? sendFile(c, home()) : undefined)
}

/** A person opens an address, and asks for a page: not a program, not a script of ours, and nothing below /api. */
function isOpened(c: Context<Env>): boolean {
  const { method, path } = c.req
  if (method !== "GET" || /^\/(api|assets|v1|mcp|ag-ui|ai-sdk)(\/|$)/.test(path)) return false
  return c.req.header("accept")?.includes("text/html") ?? false
}

function lazyHome(ports: PagePorts): () => PageFile {
  let home: PageFile | undefined
  return () => {
    const file = ports.page?.get("index.html")
    return file ? (home ??= toHome(file, ports.address)) : unbuilt
  }
}

/**
 * The page's own file names its others relative to itself. It is sent for addresses of any depth, so they are named from
 * the top here: below the path that a proxy has put us under, if any.
 */
function toHome(file: PageFile, address: ServerAddress): PageFile {
  const top = address.publicUrl ? new URL(address.publicUrl).pathname.replace(/\/$/, "") : ""
  return toHtml(new TextDecoder().decode(file.body).replaceAll('="./', `="${top}/`))
}

function toHtml(html: string): PageFile {
  const body = new TextEncoder().encode(html)
  return { body, type: "text/html; charset=utf-8", etag: etagOf(body), packed: {} }
}

function sendFile(c: Context<Env>, file: PageFile, own: Readonly<Record<string, string>> = {}): Response {
  const { body, type, etag, packed } = file
  const headers: Record<string, string> = {
    "content-type": type,
    "cache-control": "no-cache",
    "content-security-policy": PAGE_POLICY,
    etag,
    vary: "accept-encoding",
    ...own,
  }
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers)
  const taken = (c.req.header("accept-encoding") ?? "").split(",").map((name) => name.split(";")[0]?.trim())
  for (const encoding of ["br", "gzip"] as const) {
    const bytes = packed[encoding]
    if (bytes && taken.includes(encoding)) return c.body(bytes, 200, { ...headers, "content-encoding": encoding })
  }
  return c.body(body, 200, headers)
}

const UNBUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Pawl</title></head>
<body>
<h1>Pawl is running, without its page</h1>
<p>The page has not been built here. In a checkout <code>npm run page</code> builds it; then start the server again.
Everything else works: see <a href="docs">the reference</a>.</p>
</body>
</html>
`
const unbuilt = toHtml(UNBUILT)
