import { failure } from "../../protocol/errors.ts"
import { isImageType } from "../../protocol/conversation/message-file.ts"
import { readImageHead } from "./image-head.ts"

/** What a file is by its content; of an image with its size. */
export interface FoundKind {
  readonly type: string
  readonly width?: number
  readonly height?: number
}

/** An image that is larger takes hundreds of megabytes to draw, however small its file is. */
const MAX_PIXELS = 50_000_000
const MAX_SIDE = 16_384

/** All of one is searched for what runs, on the thread that everybody is served by. */
const MAX_SVG = 1_000_000

/** What a name may say of a text. Of anything else it says nothing. */
const TEXT_TYPES: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["tsv", "text/tab-separated-values"],
  ...["md", "markdown", "mdx"].map((ending) => [ending, "text/markdown"] as const),
  ...["html", "htm", "xhtml"].map((ending) => [ending, "text/html"] as const),
  ["json", "application/json"],
])

/** What somebody says it is: of what they call it, and of the header it came with. */
export interface ClaimedKind {
  readonly name: string
  readonly type: string
}

/**
 * What a file is, told by its bytes: its name and its header only say what it must not contradict. Nothing of it is
 * unpacked, decoded or run. Throws `file_refused`, with a sentence for whoever sent it.
 */
export function kindOfFile(bytes: Uint8Array, claimed: ClaimedKind): FoundKind {
  if (bytes.length === 0) throw refused("it is empty, 0 bytes")
  const kind = kindByContent(bytes, claimed.name)
  const family = familyOf(kind.type)
  const said = familyOfClaim(claimed)
  if (said !== undefined && said !== family)
    throw refused(
      `it is called ${said === "image" ? "an image" : said} and holds ${family === "image" ? "an image" : family}`,
    )
  return kind
}

function kindByContent(bytes: Uint8Array, name: string): FoundKind {
  const head = latin1(bytes, 0, 1024)
  if (head.startsWith("%PDF-")) return pdf(bytes)
  const image = readImageHead(bytes)
  if (image) {
    if ("problem" in image) throw refused(image.problem)
    refuseTwoInOne(bytes, head)
    const { width, height } = image
    if (width * height > MAX_PIXELS || Math.max(width, height) > MAX_SIDE)
      throw refused(`${width} × ${height} pixels are more than an image may have; make it smaller`)
    return image
  }
  const packed = PACKED.find(([sign]) => head.startsWith(sign))
  if (packed) throw refused(`${packed[1]}. Send what is in it: images, PDFs, or text`)
  return text(bytes, name)
}

const PACKED: readonly (readonly [string, string])[] = [
  ["PK\x03\x04", "it is an archive, or a document that is one (ZIP, DOCX, XLSX), which is not unpacked here"],
  ["PK\x05\x06", "it is an archive (ZIP), which is not unpacked here"],
  ["\x1f\x8b", "it is compressed (gzip), which is not unpacked here"],
  ["BZh", "it is compressed (bzip2), which is not unpacked here"],
  ["\xfd7zXZ\0", "it is compressed (xz), which is not unpacked here"],
  ["\x28\xb5\x2f\xfd", "it is compressed (zstd), which is not unpacked here"],
  ["7z\xbc\xaf", "it is an archive (7z), which is not unpacked here"],
  ["Rar!", "it is an archive (RAR), which is not unpacked here"],
]

function pdf(bytes: Uint8Array): FoundKind {
  const end = latin1(bytes, bytes.length - 2048, bytes.length)
  if (!end.includes("%%EOF")) throw refused("it is a PDF whose end is missing")
  refuseTwoInOne(bytes, "")
  return { type: "application/pdf" }
}

/** What is two things at once is shown as the one and read as the other. */
function refuseTwoInOne(bytes: Uint8Array, head: string): void {
  const two = (what: string) => refused(`it is two things at once: there is ${what} in it too`)
  if (head.includes("%PDF-")) throw two("a PDF")
  // Where whoever unpacks an archive looks for it: in the last 64 KB.
  if (latin1(bytes, bytes.length - 66_000, bytes.length).includes("PK\x05\x06")) throw two("an archive (ZIP)")
}

function text(bytes: Uint8Array, name: string): FoundKind {
  if (bytes.includes(0))
    throw refused("it is none of what is taken here: images (PNG, JPEG, GIF, WebP), PDFs, and text")
  const { text: words, problem } = decode(bytes)
  if (problem) throw refused(problem)
  if (isSvg(words.slice(0, 4096))) {
    if (words.length > MAX_SVG) throw refused("it is an SVG of more than a million characters; send it as PNG")
    if (ACTIVE_SVG.test(words))
      throw refused("it is an SVG with script or foreign content in it; send it as PNG, or without")
    return { type: "image/svg+xml" }
  }
  const ending = /\.([A-Za-z]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? ""
  return { type: TEXT_TYPES.get(ending) ?? "text/plain" }
}

function decode(bytes: Uint8Array): { readonly text: string; readonly problem?: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return { text: "", problem: "it is no image, no PDF, and no text in UTF-8; save it as UTF-8 and send it again" }
  }
}

const isSvg = (head: string): boolean => /<svg[\s>:]/i.test(head) && /^\uFEFF?\s{0,100}</.test(head)
/** What can run, load or include something. */
const ACTIVE_SVG =
  /<[\w:]{0,20}script|<[\w:]{0,20}foreignObject|\son\w{1,30}\s{0,10}=|javascript:|<!ENTITY|<[\w:]{0,20}handler/i

type Family = "image" | "a PDF" | "text"

const familyOf = (type: string): Family => (isImageType(type) ? "image" : type === "application/pdf" ? "a PDF" : "text")

/** Undefined where neither says anything that could be wrong: a text may be called anything. */
function familyOfClaim({ name, type }: ClaimedKind): Family | undefined {
  if (isImageType(type)) return "image"
  if (type === "application/pdf") return "a PDF"
  if (/\.(png|jpe?g|gif|webp)$/i.test(name)) return "image"
  if (/\.pdf$/i.test(name)) return "a PDF"
  return /^text\//.test(type) ? "text" : undefined
}

const latin1 = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1", Math.max(0, from), to)

const refused = (problem: string) => failure("file_refused", { problem })
