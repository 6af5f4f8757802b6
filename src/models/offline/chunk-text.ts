/** The text in `count` pieces of about one length, as a stream would bring it; never half of a surrogate pair. */
export function chunkText(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)))
  const chunks: string[] = []
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(start + size, text.length)
    if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end++
    chunks.push(text.slice(start, end))
  }
  return chunks
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
