import type { Context } from "hono"
import { MAX_BYTES_OF_FILE } from "../../protocol/conversation/message-file.ts"
import { failure } from "../../protocol/errors.ts"
import type { NewMessageFile } from "../../protocol/ports/message-files.ts"
import type { Env } from "../door/request-env.ts"
import { readBytes } from "../request/read-input.ts"
import { type ClaimedKind, kindOfFile } from "./file-kind.ts"
import { cleanName, sha256Of } from "./name-and-hash.ts"
import { readForm } from "./read-form.ts"

/** What a form puts around its file. */
const FORM_BYTES = 16 * 1024

/** The file in a request's body, looked at and named. Nothing of it is kept yet, whatever is wrong with it. */
export async function readUpload(c: Context<Env>, queryName: string | undefined): Promise<NewMessageFile> {
  const contentType = c.req.header("content-type") ?? ""
  const isForm = /^multipart\/form-data\b/i.test(contentType.trim())
  const body = await readBytes(c, { bytes: MAX_BYTES_OF_FILE + (isForm ? FORM_BYTES : 0), tooLarge })
  const form = isForm ? readForm(body, contentType) : undefined
  const bytes = form?.bytes ?? body
  const said = c.req.header("x-file-name")
  const name = form?.name || (said === undefined ? queryName : decoded(said)) || ""
  return toNewFile(bytes, { name, type: form?.type ?? contentType })
}

/** Bytes of somebody's as a file of a message, looked at and named. Throws what is wrong with them. */
export async function toNewFile(bytes: Uint8Array, said: ClaimedKind): Promise<NewMessageFile> {
  if (bytes.length > MAX_BYTES_OF_FILE) throw tooLarge()
  const name = cleanName(said.name || "file")
  const kind = kindOfFile(bytes, { name, type: said.type.split(";")[0]!.trim().toLowerCase() })
  return { name, ...kind, bytes, sha256: await sha256Of(bytes) }
}

const tooLarge = () => failure("message_file_too_large", { most: MAX_BYTES_OF_FILE })

/** A header holds plain letters only, so names are sent percent-encoded; one that is not is taken as it is. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
