import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join, relative, sep } from "node:path"
import { own } from "../../../protocol/own.ts"

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

export const etagOf = (body: Uint8Array): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`
