/** What an image says of itself in its first bytes, or what is wrong with them. */
export type ImageHead =
  | { readonly type: string; readonly width: number; readonly height: number }
  | { readonly problem: string }

/**
 * Reads type and size of an image without decoding any of it: only lengths and marks are followed. Undefined where it does
 * not begin like one of the four kinds.
 */
export function readImageHead(bytes: Uint8Array): ImageHead | undefined {
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

/** Chunk by chunk to the last one, which has to be the end of the file. */
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

/** Bytes between segments that say nothing, of which there are usually none: a file of nothing else is not walked through. */
const MAX_FILLS = 1000

/** Segment by segment to the one with the size. Behind the end cameras put things of their own: they are let be. */
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

/** From the end, where it usually is. By hand: `includes` takes ten times as long where half of the sign is all there is. */
function hasLastMarker(view: DataView): boolean {
  for (let at = view.byteLength - 1; at > 2; at--)
    if (view.getUint8(at) === 0xd9 && view.getUint8(at - 1) === 0xff) return true
  return false
}

/** Block by block to the end of the file. */
function gif(view: DataView): ImageHead {
  if (view.byteLength < 14) return CUT
  const colours = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + colours(view.getUint8(10))
  // Whoever draws it makes room for each frame, whatever the screen is said to be.
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
