import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join, relative, sep } from "node:path"
import { own } from "../../shared/text/json.ts"
import type { Context, Hono } from "hono"
import { routes } from "../../protocol/routes/index.ts"
import type { Env, ServerAddress } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"

export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  /** Compressed at build time. */
  readonly packed: { readonly br?: Uint8Array<ArrayBuffer>; readonly gzip?: Uint8Array<ArrayBuffer> }
}

/** The built page by path, such as `assets/main-x.js`. */
export interface PageFiles {
  get(path: string): PageFile | undefined
}

/** The types that are served; other files are not part of the page. */
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
 * The built page; undefined if it was not built, as in a fresh checkout. Read completely (3 MB, about 50 ms) with the first
 * request, and then held in memory, so that all files are of one version while another is installed.
 */
export function openPageFiles(folder: string): PageFiles | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined
  let files: ReadonlyMap<string, PageFile> | undefined
  return { get: (path) => (files ??= readAll(folder))?.get(path) }
}

/** Undefined while it is being built or installed: retried with the next request. */
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

/** Only our own files run, and they can only call us: whatever a model writes, a browser does nothing with it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  // The frame for charts, and nothing else.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ")

/** Their names change with their content. */
const FOR_EVER = "public, max-age=31536000, immutable"

export interface PagePorts {
  /** The built page; undefined if it was not built. */
  readonly page?: PageFiles | undefined
  /** The built documentation; undefined if it was not built. */
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

/** Answers unknown addresses that a person opens in a browser with the page, which has its own router. */
export function createPage(ports: PagePorts): (c: Context<Env>) => Response | undefined {
  const home = lazyHome(ports)
  return (c) => (isOpened(c) ? sendFile(c, home()) : undefined)
}

/** A person who opens an address accepts HTML. Not below /api and the adapters' paths. */
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
 * The built page names its files relative to itself. It is served at addresses of any depth, so the paths are made absolute,
 * including a proxy's path prefix.
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
 * Headers of the frame for charts. Its only script is allowed by hash and starts a worker from text it contains; nothing
 * else runs, loads or connects. `sandbox` also when it is opened directly: it never has an origin, cookies or storage.
 */
function chartFrameHeaders(html: string): Readonly<Record<string, string>> {
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
