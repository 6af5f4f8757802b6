import { failure } from "../../protocol/errors.ts"

/** One file out of a form, with what its sender calls it. */
export interface FormFile {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

/** What stands before the bytes of one field. */
const MAX_HEAD = 8 * 1024

/**
 * The field `file` of a form (`multipart/form-data`) that is all there. Only the first field is looked at, so that a body of
 * a million of them costs no more than one.
 */
export function readForm(body: Uint8Array, contentType: string): FormFile {
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
  if (end === -1) throw failure("bad_request", { problem: "The body broke off before its end." })
  const head = all.toString("utf8", headAt, headEnd)
  const line = /^content-disposition:([^\r\n]{0,4000})/im.exec(head)?.[1] ?? ""
  if (/;\s*name="([^"]{0,2000})"/i.exec(line)?.[1] !== "file")
    throw bad('send the file as its first field, called "file"')
  if (all.toString("latin1", end + mark.length + 4, end + mark.length + 6) !== "--")
    throw bad("it has more than one field; send one file at a time")
  const type = /^content-type:[ \t]*([^;\r\n]{1,200})/im.exec(head)?.[1]?.trim() ?? ""
  // Browsers write quotation marks in it as %22.
  const name = /;\s*filename="([^"]{0,2000})"/i.exec(line)?.[1]?.replaceAll("%22", '"') ?? ""
  return { name, type, bytes: all.subarray(Math.min(headEnd + 4, end), end) }
}

const bad = (problem: string) => failure("bad_request", { problem: `The form cannot be read: ${problem}.` })
