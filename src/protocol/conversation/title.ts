/** Characters of a title that nobody has chosen. */
const MAX_TITLE = 60

/** The first words of a message as a title, until there is a better one. Who sends this has chosen none. */
export function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  const characters = [...line]
  if (characters.length <= MAX_TITLE) return line
  const cut = characters.slice(0, MAX_TITLE).join("")
  return `${cut.replace(/\s+\S*$/, "") || cut}…`
}
