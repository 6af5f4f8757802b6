/** Controls, formats that change the direction of text, unassigned characters, and characters that end a quotation. */
const NEEDS_QUOTING = /[\p{C}\p{Zl}\p{Zp}"\\]/u
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** A name as people and models see it. A name that could be misread is quoted and escaped as in JSON. */
export function displayName(name: string): string {
  if (!NEEDS_QUOTING.test(name) && name !== "" && name.trim() === name) return name
  return JSON.stringify(name).replaceAll(INVISIBLE, escaped)
}

/** Text of a file or a program, without control characters that affect a terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (found) =>
    found === "\n" || found === "\t" ? found : escaped(found),
  )
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}
