import { isImageType, type MessageFile } from "../protocol/conversation/message-file.ts"

/** Bytes of the text of one file, whatever its model could read. */
export const MAX_TEXT_OF_FILE = 100_000

/** What providers take for an image at most, and for how many pixels they count a token. */
const MAX_IMAGE_TOKENS = 1600
const PIXELS = 750
/** A page of a document is about so many bytes, and is counted as its text and a picture of it. */
const PAGE_BYTES = 40_000
const PAGE_TOKENS = 2000
const MAX_PDF_TOKENS = 60_000

/** About what files take of a model's context. Made of what the journal says of them alone, so that a fold is the same everywhere. */
export const filesTokens = (files: readonly MessageFile[] = []): number =>
  files.reduce((sum, file) => sum + tokensOf(file), 0)

function tokensOf({ type, size, width = 1000, height = 1000 }: MessageFile): number {
  if (isImageType(type)) return Math.min(MAX_IMAGE_TOKENS, Math.ceil((width * height) / PIXELS)) + 50
  if (type === "application/pdf") return Math.min(MAX_PDF_TOKENS, Math.ceil(size / PAGE_BYTES) * PAGE_TOKENS)
  return Math.ceil(Math.min(size, MAX_TEXT_OF_FILE) / 4) + 50
}
