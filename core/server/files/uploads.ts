import type { Context } from "hono"
import {
  MAX_MESSAGE_FILE_BYTES,
  MAX_MESSAGE_FILE_NAME,
  MAX_FILES,
  type MessageFile,
  type WorkFile,
} from "../../protocol/conversation/message.ts"
import { failure } from "../../protocol/errors.ts"
import type { NewMessageFile, MessageFiles, FileUse } from "../../engine/stored-files.ts"
import type { Env } from "../auth/credentials.ts"
import { readBytes } from "../request/read-input.ts"
import { type ClaimedKind, kindOfFile } from "./file-kind.ts"
import { createHash } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { showHidden } from "../../shared/text/show-hidden.ts"
import type { FileId, UserId } from "../../protocol/ids.ts"

/** Room for the multipart framing around the file. */
const FORM_BYTES = 16 * 1024

/** Reads and checks the file in a request's body. Stores nothing. */
export async function readUpload(c: Context<Env>, queryName: string | undefined): Promise<NewMessageFile> {
  const contentType = c.req.header("content-type") ?? ""
  const isForm = /^multipart\/form-data\b/i.test(contentType.trim())
  const body = await readBytes(c, { bytes: MAX_MESSAGE_FILE_BYTES + (isForm ? FORM_BYTES : 0), tooLarge })
  const form = isForm ? readForm(body, contentType) : undefined
  const bytes = form?.bytes ?? body
  const nameHeader = c.req.header("x-file-name")
  const name = form?.name || (nameHeader === undefined ? queryName : decoded(nameHeader)) || ""
  return toNewFile(bytes, { name, type: form?.type ?? contentType })
}

/** Checks a person's bytes as a file of a message. Throws what is wrong with them. */
export async function toNewFile(bytes: Uint8Array, nameHeader: ClaimedKind): Promise<NewMessageFile> {
  if (bytes.length > MAX_MESSAGE_FILE_BYTES) throw tooLarge()
  const name = cleanName(nameHeader.name || "file")
  const kind = kindOfFile(bytes, { name, type: nameHeader.type.split(";")[0]!.trim().toLowerCase() })
  return { name, ...kind, bytes, sha256: await sha256Of(bytes) }
}

const tooLarge = () => failure("message_file_too_large", { most: MAX_MESSAGE_FILE_BYTES })

/** Headers are ASCII, so names are percent-encoded; a name that is not is used as it is. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The file of a form, with its claimed name and type. */
interface FormFile {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

/** Most bytes of a field's headers. */
const MAX_HEAD = 8 * 1024

/**
 * The field `file` of a complete form (`multipart/form-data`). Only the first field is read, so that a body of a million
 * fields costs no more than one.
 */
function readForm(body: Uint8Array, contentType: string): FormFile {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType)
  const mark = boundary?.[1] ?? boundary?.[2]
  if (mark === undefined) throw bad("its content-type names no boundary")
  const all = Buffer.from(body.buffer, body.byteOffset, body.length)
  const start = all.indexOf(`--${mark}\r\n`)
  if (start === -1) throw bad("its boundary is not in it")
  const headAt = start + mark.length + 4
  const headEnd = all.indexOf("\r\n\r\n", headAt)
  if (headEnd === -1 || headEnd - headAt > MAX_HEAD) throw bad("its first field has no head")
  const end = all.indexOf(`\r\n--${mark}`, headEnd + 2)
  if (end === -1) throw failure("bad_request", { problem: "The request body ended too early. Send it again." })
  const head = all.toString("utf8", headAt, headEnd)
  const line = /^content-disposition:([^\r\n]{0,4000})/im.exec(head)?.[1] ?? ""
  if (/;\s*name="([^"]{0,2000})"/i.exec(line)?.[1] !== "file")
    throw bad('send the file as its first field, called "file"')
  if (all.toString("latin1", end + mark.length + 4, end + mark.length + 6) !== "--")
    throw bad("it has more than one field; send one file at a time")
  const type = /^content-type:[ \t]*([^;\r\n]{1,200})/im.exec(head)?.[1]?.trim() ?? ""
  // Browsers encode quotation marks as %22.
  const name = /;\s*filename="([^"]{0,2000})"/i.exec(line)?.[1]?.replaceAll("%22", '"') ?? ""
  return { name, type, bytes: all.subarray(Math.min(headEnd + 4, end), end) }
}

const bad = (problem: string) => failure("bad_request", { problem: `The form cannot be read: ${problem}.` })

const HASHED_AT_ONCE = 4 * 1024 * 1024

/** The last segment of a path on one line, with hidden characters made visible. */
export function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const plain = showHidden(last.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")).trim()
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? ""
  if (plain.length <= MAX_MESSAGE_FILE_NAME) return plain || "file"
  return `${plain.slice(0, MAX_MESSAGE_FILE_NAME - ending.length - 1).toWellFormed()}…${ending}`
}

/** In hexadecimal digits. Yields to other work between chunks. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256")
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE))
  }
  return hash.digest("hex")
}

export type RequestFile =
  | { readonly type: "uploaded"; readonly id: FileId }
  | { readonly type: "bytes"; readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array }

interface FileStorage {
  readonly messageFiles: Pick<MessageFiles, "keep" | "use">
  readonly bytesOfFiles: number
}

/** Stores the files that came inside a message, and returns the ids of all its files. Equal bytes are stored once. */
export async function storeFiles(
  user: UserId,
  { messageFiles, bytesOfFiles }: FileStorage,
  files: readonly RequestFile[],
): Promise<FileId[]> {
  if (files.length > MAX_FILES)
    throw failure("bad_request", { problem: `A message has at most ${MAX_FILES} files; these are ${files.length}.` })
  const stored: FileId[] = []
  for (const file of files) {
    if (file.type === "uploaded") stored.push(file.id)
    else {
      const { name, mediaType: type, bytes } = file
      const checked = await toNewFile(bytes, { name, type })
      stored.push((await messageFiles.keep(user, checked, bytesOfFiles)).id)
    }
  }
  return stored
}

/**
 * Marks the files that a message names as used, so that they are not cleaned up. Throws `not_found` for a file that does not
 * exist or is another person's.
 */
export async function useFiles(
  { messageFiles }: { readonly messageFiles: Pick<MessageFiles, "use"> },
  user: UserId,
  use: FileUse,
  ids: readonly FileId[] | null | undefined,
): Promise<{ files?: readonly MessageFile[] }> {
  if (!ids?.length) return {}
  const files = await messageFiles.use(user, use, [...new Set(ids)])
  if (!files) throw failure("not_found")
  return { files }
}

/** Adds the client's paths to those files that are in the work folder. */
export function withPaths(
  { files }: { readonly files?: readonly MessageFile[] },
  workFiles: readonly WorkFile[] | null | undefined,
): { files?: readonly MessageFile[] } {
  if (!files || !workFiles?.length) return files ? { files } : {}
  const byId = new Map(workFiles.map((file) => [file.id, file]))
  return {
    files: files.map((file) => {
      const { path, trusted } = byId.get(file.id) ?? {}
      return path === undefined ? file : { ...file, path, folder: trusted ? "trusted" : "untrusted" }
    }),
  }
}
