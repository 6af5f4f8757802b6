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
  const form = isForm ? readForm(body, contentType, 1).file : undefined
  const bytes = form?.bytes ?? body
  const nameHeader = c.req.header("x-file-name")
  const name = form?.name || (nameHeader === undefined ? queryName : decoded(nameHeader)) || ""
  return toNewFile(bytes, { name, type: form?.type ?? contentType })
}

/** The most fields next to the file, and the most bytes of each. */
const FIELDS = { most: 8, bytes: 1024 }

/** Reads a form with a file and other fields, and checks the file. Stores nothing. */
export async function readUploadForm(
  c: Context<Env>,
): Promise<{ readonly file: NewMessageFile; readonly fields: ReadonlyMap<string, string> }> {
  const contentType = c.req.header("content-type") ?? ""
  if (!/^multipart\/form-data\b/i.test(contentType.trim())) throw bad("its content-type is not multipart/form-data")
  const body = await readBytes(c, { bytes: MAX_MESSAGE_FILE_BYTES + FORM_BYTES, tooLarge })
  const { file, fields } = readForm(body, contentType, 1 + FIELDS.most)
  return { file: await toNewFile(file.bytes, file), fields }
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

/** The most bytes of a field's headers. */
const MAX_HEAD = 8 * 1024

interface Form {
  readonly file: FormFile
  /** The other fields, as text. */
  readonly fields: ReadonlyMap<string, string>
}

/** A complete form (`multipart/form-data`) with the field `file`. Refuses more than `most` fields before it reads them. */
function readForm(body: Uint8Array, contentType: string, most: number): Form {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType)
  const mark = boundary?.[1] ?? boundary?.[2]
  if (mark === undefined) throw bad("its content-type names no boundary")
  const all = Buffer.from(body.buffer, body.byteOffset, body.length)
  let file: FormFile | undefined
  const fields = new Map<string, string>()
  let at = all.indexOf(`--${mark}\r\n`)
  if (at === -1) throw bad("its boundary is not in it")
  for (let read = 1; ; read++) {
    const headAt = at + mark.length + 4
    const headEnd = all.indexOf("\r\n\r\n", headAt)
    if (headEnd === -1 || headEnd - headAt > MAX_HEAD) throw bad("a field has no head")
    const end = all.indexOf(`\r\n--${mark}`, headEnd + 2)
    if (end === -1) throw failure("bad_request", { problem: "The request body ended too early. Send it again." })
    const bytes = all.subarray(Math.min(headEnd + 4, end), end)
    const { field, ...head } = readFieldHead(all.toString("utf8", headAt, headEnd))
    if (field === "file") {
      if (file) throw bad("it has two files; send one file at a time")
      file = { ...head, bytes }
    } else if (most === 1) throw bad('send the file as its only field, called "file"')
    else if (bytes.length > FIELDS.bytes) throw bad(`a field other than the file has more than ${FIELDS.bytes} bytes`)
    else fields.set(field, bytes.toString("utf8"))
    at = end + 2
    if (all.toString("latin1", at + mark.length + 2, at + mark.length + 4) === "--") break
    if (read === most)
      throw bad(most === 1 ? "it has more than one field; send one file at a time" : `it has more than ${most} fields`)
  }
  if (!file) throw bad('send the file as the field "file"')
  return { file, fields }
}

function readFieldHead(head: string): { readonly field: string } & Pick<FormFile, "name" | "type"> {
  const line = /^content-disposition:([^\r\n]{0,4000})/im.exec(head)?.[1] ?? ""
  return {
    field: /;\s*name="([^"]{0,2000})"/i.exec(line)?.[1] ?? "",
    type: /^content-type:[ \t]*([^;\r\n]{1,200})/im.exec(head)?.[1]?.trim() ?? "",
    // Browsers encode quotation marks as %22.
    name: /;\s*filename="([^"]{0,2000})"/i.exec(line)?.[1]?.replaceAll("%22", '"') ?? "",
  }
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
