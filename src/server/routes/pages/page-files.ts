import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { extname, join, sep } from "node:path"
import { own } from "../../../protocol/own.ts"

/** One file of the built page, as it is sent. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  /** The same, packed when it was built: nobody waits for it. */
  readonly packed: { readonly br?: Uint8Array<ArrayBuffer>; readonly gzip?: Uint8Array<ArrayBuffer> }
}

/** The built page by path, such as `assets/main-x.js`. A few hundred kilobytes, held in memory. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** What may be in it. A file of another kind is none of the page and is not served. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Reads a built page; undefined where there is none, as in a checkout that nobody has built. */
export async function readPageFiles(folder: string): Promise<PageFiles | undefined> {
  const bytes = new Map<string, Uint8Array<ArrayBuffer>>()
  // At once: nobody is served yet, and to wait for each of a hundred small files costs as much as to read them.
  for (const path of await filesIn(folder)) bytes.set(path, Uint8Array.from(readFileSync(join(folder, path))))
  if (!bytes.has("index.html")) return undefined
  const files = new Map<string, PageFile>()
  for (const [path, body] of bytes) {
    const type = own(TYPES, extname(path))
    if (type === undefined) continue
    const [br, gzip] = [bytes.get(`${path}.br`), bytes.get(`${path}.gz`)]
    files.set(path, { body, type, etag: etagOf(body), packed: { ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) } })
  }
  return files
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    return files.map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll(sep, "/"),
    )
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return []
    throw error
  }
}

export const etagOf = (body: Uint8Array): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`
