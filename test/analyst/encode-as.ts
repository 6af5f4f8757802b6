const tables = new Map<string, Map<string, readonly number[]>>()

/** Encodes a text in an encoding for which the platform has only a decoder, by inverting the decoder's table. */
export function encodeAs(encoding: string, text: string): Buffer {
  if (encoding === "utf-8") return Buffer.from(text)
  if (encoding.startsWith("utf-16")) {
    const bytes = Buffer.from(text, "utf16le")
    return encoding === "utf-16be" ? bytes.swap16() : bytes
  }
  const table = tableOf(encoding)
  return Buffer.from(
    [...text].flatMap((letter) => {
      const bytes = table.get(letter)
      if (!bytes) throw new Error(`${encoding} has no ${letter}`)
      return bytes
    }),
  )
}

function tableOf(encoding: string): Map<string, readonly number[]> {
  const known = tables.get(encoding)
  if (known) return known
  const table = new Map<string, readonly number[]>()
  const decoder = new TextDecoder(encoding)
  const enter = (...bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes))
    if ([...text].length === 1 && text !== "\uFFFD" && !table.has(text)) table.set(text, bytes)
  }
  for (let byte = 0; byte < 256; byte++) enter(byte)
  const wide = /^(?:shift_jis|euc|gb|big5)/.test(encoding)
  for (let lead = 0x81; wide && lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) enter(lead, trail)
  tables.set(encoding, table)
  return table
}
