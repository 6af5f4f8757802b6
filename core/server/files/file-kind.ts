import { binaryKind } from "../../shared/encoding/binary-kind.ts"
import { failure } from "../../protocol/errors.ts"
import { isImageType } from "../../protocol/conversation/message.ts"

/** The type of a file by its content, and the size of an image. */
export interface FoundKind {
  readonly type: string
  readonly width?: number
  readonly height?: number
}

/** A larger image takes hundreds of megabytes to decode, however small its file is. */
const MAX_PIXELS = 50_000_000
const MAX_SIDE = 16_384

/** The whole SVG is searched for active content, on the main thread. */
const MAX_SVG = 1_000_000

/** Types that a text file's name may determine. */
const TEXT_TYPES: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["tsv", "text/tab-separated-values"],
  ...["md", "markdown", "mdx"].map((ending) => [ending, "text/markdown"] as const),
  ...["html", "htm", "xhtml"].map((ending) => [ending, "text/html"] as const),
  ["json", "application/json"],
])

/** The sender's claims: the file's name, and the content type of the request. */
export interface ClaimedKind {
  readonly name: string
  readonly type: string
}

/**
 * Detects the type of a file from its bytes; the name and the header must only not contradict it. Nothing is unpacked,
 * decoded or run. Throws `file_refused` with a sentence for the sender.
 */
export function kindOfFile(bytes: Uint8Array, claimed: ClaimedKind): FoundKind {
  if (bytes.length === 0) throw refused("it is empty, 0 bytes")
  const kind = kindByContent(bytes, claimed.name)
  const family = familyOf(kind.type)
  const claimedFamily = familyOfClaim(claimed)
  if (claimedFamily !== undefined && claimedFamily !== family)
    throw refused(
      `it is called ${claimedFamily === "image" ? "an image" : claimedFamily} and holds ${family === "image" ? "an image" : family}`,
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
  const kind = binaryKind(bytes)
  if (kind !== undefined) throw refused(kind)
  return text(bytes, name)
}

function pdf(bytes: Uint8Array): FoundKind {
  const end = latin1(bytes, bytes.length - 2048, bytes.length)
  if (!end.includes("%%EOF")) throw refused("it is a PDF whose end is missing")
  refuseTwoInOne(bytes, "")
  return { type: "application/pdf" }
}

/** Refuses polyglot files, which are shown as one type and read as another. */
function refuseTwoInOne(bytes: Uint8Array, head: string): void {
  const two = (what: string) => refused(`it is two things at once: there is ${what} in it too`)
  if (head.includes("%PDF-")) throw two("a PDF")
  // Programs that unpack an archive look for this in the last 64 KB.
  if (latin1(bytes, bytes.length - 66_000, bytes.length).includes("PK\x05\x06")) throw two("an archive (ZIP)")
}

function text(bytes: Uint8Array, name: string): FoundKind {
  if (bytes.includes(0))
    throw refused("it is none of what is taken here: images (PNG, JPEG, GIF, WebP), PDFs, and text")
  const { text: markup, problem } = decode(bytes)
  if (problem) throw refused(problem)
  if (isSvg(markup.slice(0, 4096))) {
    if (markup.length > MAX_SVG) throw refused("it is an SVG of more than a million characters; send it as PNG")
    if (ACTIVE_SVG.test(markup))
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
/** Elements and attributes that can run, load or include something. */
const ACTIVE_SVG =
  /<[\w:]{0,20}script|<[\w:]{0,20}foreignObject|\son\w{1,30}\s{0,10}=|javascript:|<!ENTITY|<[\w:]{0,20}handler/i

type Family = "image" | "a PDF" | "text"

const familyOf = (type: string): Family => (isImageType(type) ? "image" : type === "application/pdf" ? "a PDF" : "text")

/** Undefined if neither contradicts any content: a text may have any name. */
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

/** An image's type and size from its first bytes, or what is wrong with it. */
type ImageHead =
  | { readonly type: string; readonly width: number; readonly height: number }
  | { readonly problem: string }

/** Reads type and size of an image without decoding it. Undefined if it does not begin like one of the four kinds. */
function readImageHead(bytes: Uint8Array): ImageHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const starts = (...signs: number[]) => signs.every((sign, at) => bytes[at] === sign)
  const image =
    (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) && png(view)) ||
    (starts(0xff, 0xd8, 0xff) && jpeg(view)) ||
    (starts(0x47, 0x49, 0x46, 0x38) && gif(view)) ||
    (starts(0x52, 0x49, 0x46, 0x46) && view.byteLength > 12 && view.getUint32(8) === WEBP && webp(view))
  if (!image) return undefined
  if ("problem" in image || (image.width > 0 && image.height > 0)) return image
  return { problem: "it is an image without a size" }
}

const WEBP = 0x57454250
const IHDR = 0x49484452
const IEND = 0x49454e44
const CUT = { problem: "it is an image whose end is missing" } as const
const MORE = { problem: "it is an image with something else behind its end" } as const

/** Follows the chunks to the last one, which must end the file. */
function png(view: DataView): ImageHead {
  if (view.byteLength < 33 || view.getUint32(12) !== IHDR) return CUT
  for (let at = 8; at + 12 <= view.byteLength;) {
    const next = at + 12 + view.getUint32(at)
    if (view.getUint32(at + 4) === IEND) {
      if (next !== view.byteLength) return next < view.byteLength ? MORE : CUT
      return { type: "image/png", width: view.getUint32(16), height: view.getUint32(20) }
    }
    at = next
  }
  return CUT
}

/** Most fill bytes between segments; usually there are none. Bounds the scan of a file that contains nothing else. */
const MAX_FILLS = 1000

/** Follows the segments to the frame header. Data after the end is allowed: cameras append some. */
function jpeg(view: DataView): ImageHead {
  let fills = 0
  for (let at = 2; at + 9 < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) break
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      if (++fills > MAX_FILLS) break
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) {
      const size = { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
      return hasLastMarker(view) ? { type: "image/jpeg", ...size } : CUT
    }
    if (marker === 0xda || marker === 0xd9) break
    at += 2 + view.getUint16(at + 2)
  }
  return { problem: "it begins like a JPEG and is none" }
}

/**
 * Scans from the end, where it usually is. By hand: `includes` takes ten times as long if many bytes match the first half.
 */
function hasLastMarker(view: DataView): boolean {
  for (let at = view.byteLength - 1; at > 2; at--)
    if (view.getUint8(at) === 0xd9 && view.getUint8(at - 1) === 0xff) return true
  return false
}

/** Follows the blocks to the end of the file. */
function gif(view: DataView): ImageHead {
  if (view.byteLength < 14) return CUT
  const colours = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + colours(view.getUint8(10))
  // A decoder allocates memory for each frame, whatever the header says.
  let [width, height] = [view.getUint16(6, true), view.getUint16(8, true)]
  const skipData = () => {
    while (at < view.byteLength && view.getUint8(at) !== 0) at += 1 + view.getUint8(at)
    at++
  }
  while (at < view.byteLength) {
    const block = view.getUint8(at)
    if (block === 0x3b) {
      if (at + 1 !== view.byteLength) return MORE
      return { type: "image/gif", width, height }
    }
    if (block === 0x2c) {
      if (at + 10 > view.byteLength) return CUT
      width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true))
      height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true))
      at += 10 + colours(view.getUint8(at + 9)) + 1
    } else if (block === 0x21) at += 2
    else return { problem: "it begins like a GIF and is none" }
    skipData()
  }
  return CUT
}

function webp(view: DataView): ImageHead {
  const length = view.getUint32(4, true) + 8
  if (length > view.byteLength || view.byteLength < 30) return CUT
  if (length + (length % 2) < view.byteLength) return MORE
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)))
  const three = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536
  const type = "image/webp"
  if (kind === "VP8X") return { type, width: three(24) + 1, height: three(27) + 1 }
  if (kind === "VP8 ")
    return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (kind !== "VP8L") return { problem: "it begins like a WebP and is none" }
  const bits = view.getUint32(21, true)
  return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
