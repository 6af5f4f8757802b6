import { hasCode } from "../../protocol/errors.ts"
import type { NewMessageFile } from "../../engine/stored-files.ts"
import { kindOfFile, type FoundKind } from "./file-kind.ts"
import { cleanName, sha256Of } from "./uploads.ts"

const UNKNOWN = "application/octet-stream"

/** What sounds, archives and films begin with, and where. Nothing of them is played or unpacked here: it is only what to call them. */
const SIGNS: readonly (readonly [at: number, sign: string, type: string])[] = [
  [8, "WAVE", "audio/wav"],
  [0, "ID3", "audio/mpeg"],
  [0, "\xff\xfb", "audio/mpeg"],
  [0, "\xff\xf3", "audio/mpeg"],
  [0, "OggS", "audio/ogg"],
  [0, "fLaC", "audio/flac"],
  [4, "ftypM4A", "audio/mp4"],
  [4, "ftypisom", "video/mp4"],
  [4, "ftypmp4", "video/mp4"],
  [0, "\x1a\x45\xdf\xa3", "video/webm"],
  [0, "PK\x03\x04", "application/zip"],
]

/** With which endings a file of a kind is saved; the first is given to what has none of them. */
const ENDINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["image/png", ["png"]],
  ["image/jpeg", ["jpg", "jpeg"]],
  ["image/gif", ["gif"]],
  ["image/webp", ["webp"]],
  ["application/pdf", ["pdf"]],
  ["audio/wav", ["wav"]],
  ["audio/mpeg", ["mp3"]],
  ["audio/ogg", ["ogg", "oga", "opus"]],
  ["audio/flac", ["flac"]],
  ["audio/mp4", ["m4a"]],
  ["video/mp4", ["mp4"]],
  ["video/webm", ["webm", "mkv"]],
  ["application/zip", ["zip", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"]],
  [UNKNOWN, ["bin"]],
])
/** Of all that is text: none of these runs when it is opened. */
const TEXT_ENDINGS = ["txt", "md", "csv", "tsv", "json", "xml", "yaml", "yml", "log"]

/**
 * Bytes that a program gave us, as a file. Unlike what a person sends it is refused for nothing that it is: whatever is not
 * one of the kinds that are shown is only there to be saved. What it was said to be counts for nothing, and its name ends
 * in a way that fits what it is, so that nothing runs because somebody opened it.
 */
export async function toResultFile(bytes: Uint8Array, said: string): Promise<NewMessageFile> {
  const given = cleanName(said)
  const kind = kindOf(bytes, given)
  const endings = ENDINGS.get(kind.type) ?? TEXT_ENDINGS
  const ending = /\.([A-Za-z0-9]{1,10})$/.exec(given)?.[1]?.toLowerCase()
  const name = ending !== undefined && endings.includes(ending) ? given : cleanName(`${given}.${endings[0] as string}`)
  return { name, ...kind, bytes, sha256: await sha256Of(bytes), isNamedByProgram: true }
}

function kindOf(bytes: Uint8Array, name: string): FoundKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1")
  const sign = SIGNS.find(([at, letters]) => head.startsWith(letters, at))
  if (sign) return { type: sign[2] }
  try {
    // Only its ending, which says which kind of text it is: what it claims to be beyond that is not held against it.
    return kindOfFile(bytes, { name: name.replace(/\.(png|jpe?g|gif|webp|pdf)$/i, ""), type: "" })
  } catch (error) {
    if (!hasCode(error, "file_refused")) throw error
    return { type: UNKNOWN }
  }
}
