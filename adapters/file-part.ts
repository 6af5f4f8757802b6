import type { RequestFile } from "../core/adapter.ts"
import { failure, type FileId, isId } from "../core/protocol/index.ts"

const UPLOADED = "/api/files/"

interface FilePart {
  readonly type?: unknown
  readonly url?: unknown
  readonly filename?: unknown
  readonly mediaType?: unknown
}

export function readFilePart({ url, filename, mediaType }: FilePart, field: string): RequestFile {
  if (typeof url !== "string") throw refused(field, "a url is missing")
  const id = uploadedId(url)
  if (id !== undefined) return { type: "uploaded", id }
  const comma = url.indexOf(",")
  const head = url.slice(0, Math.max(0, comma)).toLowerCase()
  if (!head.startsWith("data:")) throw refused(field, "files are not fetched from other addresses; upload it")
  if (!head.endsWith(";base64")) throw refused(field, "a data URL has to be in base64")
  const mime = typeof mediaType === "string" ? mediaType : ""
  return {
    type: "bytes",
    name: typeof filename === "string" ? filename : "",
    mediaType: (mime || head.slice("data:".length, -";base64".length)).split(";")[0]!.trim(),
    bytes: toBytes(url.slice(comma + 1), field),
  }
}

/** The exact address of an uploaded file, with or without the server's origin. */
function uploadedId(url: string): FileId | undefined {
  const path = /^https?:\/\//i.test(url) ? (URL.parse(url)?.pathname ?? "") : url
  const id = path.startsWith(UPLOADED) ? path.slice(UPLOADED.length) : ""
  return isId("file", id) ? id : undefined
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Checked first: invalid base64 would be decoded partially to other bytes. */
function toBytes(base64: string, field: string): Uint8Array {
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) throw refused(field, "this is no base64")
  return Buffer.from(base64, "base64")
}

const refused = (field: string, why: string) =>
  failure("bad_request", {
    problem: `${field}: ${why}. A file is a data URL, or /api/files/{id} of one that POST /api/files has kept.`,
  })
