import { hasCode } from "../../protocol/errors.ts"
import type { NewMessageFile } from "../../engine/stored-files.ts"
import { kindOfFile, type FoundKind } from "./file-kind.ts"
import { cleanName, sha256Of } from "./uploads.ts"

const UNKNOWN = "application/octet-stream"

/** Signatures of audio, video and archives. Used for the name and type only; nothing is played or unpacked. */
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

/** File extensions of each type; the first is added to a name without one of them. */
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
/** Extensions of texts: none of these runs when it is opened. */
const TEXT_ENDINGS = ["txt", "md", "csv", "tsv", "json", "xml", "yaml", "yml", "log"]

/**
 * Converts bytes from a program to a file. Unlike an upload it is never refused: an unknown type is saved as bytes. The
 * claimed type is ignored, and the extension is made to match the content, so that opening the file runs nothing.
 */
export async function toResultFile(bytes: Uint8Array, claimedName: string): Promise<NewMessageFile> {
  const named = cleanName(claimedName)
  const kind = kindOf(bytes, named)
  const endings = ENDINGS.get(kind.type) ?? TEXT_ENDINGS
  const ending = /\.([A-Za-z0-9]{1,10})$/.exec(named)?.[1]?.toLowerCase()
  const name = ending !== undefined && endings.includes(ending) ? named : cleanName(`${named}.${endings[0] as string}`)
  return { name, ...kind, bytes, sha256: await sha256Of(bytes), isNamedByProgram: true }
}

function kindOf(bytes: Uint8Array, name: string): FoundKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1")
  const sign = SIGNS.find(([at, letters]) => head.startsWith(letters, at))
  if (sign) return { type: sign[2] }
  try {
    // Only the extension is used, to tell kinds of text apart; a name that contradicts the content is no error here.
    return kindOfFile(bytes, { name: name.replace(/\.(png|jpe?g|gif|webp|pdf)$/i, ""), type: "" })
  } catch (error) {
    if (!hasCode(error, "file_refused")) throw error
    return { type: UNKNOWN }
  }
}
