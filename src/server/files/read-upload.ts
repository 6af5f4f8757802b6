import { createHash } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Context } from "hono"
import { MAX_BYTES_OF_FILE, MAX_NAME_OF_FILE } from "../../protocol/conversation/message-file.ts"
import { failure } from "../../protocol/errors.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import type { NewMessageFile } from "../../protocol/ports/message-files.ts"
import type { Env } from "../door/request-env.ts"
import { readBytes } from "../request/read-input.ts"
import { type ClaimedKind, kindOfFile } from "./file-kind.ts"
import { readForm } from "./read-form.ts"

/** What a form puts around its file. */
const FORM_BYTES = 16 * 1024
const HASHED_AT_ONCE = 4 * 1024 * 1024

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
  return { name, ...kind, bytes, sha256: await hashOf(bytes) }
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

/** The last part of a path, on one line, without what hides or cannot be stored. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const plain = showHidden(last.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")).trim()
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? ""
  if (plain.length <= MAX_NAME_OF_FILE) return plain || "file"
  return `${plain.slice(0, MAX_NAME_OF_FILE - ending.length - 1).toWellFormed()}…${ending}`
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256")
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE))
  }
  return hash.digest("hex")
}
