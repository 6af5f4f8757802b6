import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join, relative, sep } from "node:path"
import { own } from "../../shared/text/json.ts"
import type { Context, Hono } from "hono"
import { routes } from "../../protocol/routes/index.ts"
import type { Env, ServerAddress } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"

/** One file of the built page, as it is sent. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  /** The same, packed when it was built: nobody waits for it. */
  readonly packed: { readonly br?: Uint8Array<ArrayBuffer>; readonly gzip?: Uint8Array<ArrayBuffer> }
}

/** The built page by path, such as `assets/main-x.js`. */
export interface PageFiles {
  get(path: string): PageFile | undefined
}

/** What may be in it. A file of another kind is none of the page and is not served. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".gif": "image/gif",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
}

/**
 * A built page; undefined where there is none, as in a checkout that nobody has built. It is read whole, three megabytes
 * and a few hundredths of a second, when the first of it is asked for: many a server is never asked. From then on it is
 * held in memory, so that all of it stays of one version while another is built or installed.
 */
export function openPageFiles(folder: string): PageFiles | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined
  let files: ReadonlyMap<string, PageFile> | undefined
  return { get: (path) => (files ??= readAll(folder))?.get(path) }
}

/** Undefined while it is being built or installed: then it is read the next time. */
function readAll(folder: string): Map<string, PageFile> | undefined {
  try {
    const files = readFiles(folder)
    const named = new TextDecoder().decode(files.get("index.html")?.body).matchAll(/="\.\/([\w./-]+)"/g)
    return files.has("index.html") && [...named].every(([, path]) => files.has(path ?? "")) ? files : undefined
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined
    throw error
  }
}

function readFiles(folder: string): Map<string, PageFile> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const { parentPath, name } of entries) {
    const file = join(parentPath, name)
    bytes.set(relative(folder, file).replaceAll(sep, "/"), readFileSync(file))
  }
  const files = new Map<string, PageFile>()
  for (const [path, body] of bytes) {
    const type = own(TYPES, extname(path))
    if (type === undefined) continue
    const [br, gzip] = [bytes.get(`${path}.br`), bytes.get(`${path}.gz`)]
    files.set(path, { body, type, etag: etagOf(body), packed: { ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) } })
  }
  return files
}

export function etagOf(body: Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`
}

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
  /** The documentation as it was built; undefined if it was not. */
  readonly docs?: PageFiles | undefined
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

/** Sends a built file, compressed if the client accepts that. */
export function sendFile(c: Context<Env>, file: PageFile, own: Readonly<Record<string, string>> = {}): Response {
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

/**
 * Under what the document is sent that charts are drawn in. Its one script is known by its hash, and it makes a worker of
 * text that it holds; beyond that nothing runs, loads or is asked, not even of us. `sandbox` also where somebody opens it
 * by itself: it never has an origin, so neither cookies nor storage.
 */
export function chartFrameHeaders(html: string): Readonly<Record<string, string>> {
  const script = /<script>(?<source>[\s\S]*?)<\/script>/.exec(html)?.groups?.source ?? ""
  const hash = createHash("sha256").update(script).digest("base64")
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "worker-src blob:",
    "img-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ]
  return { "content-security-policy": policy.join("; "), "x-frame-options": "SAMEORIGIN" }
}
