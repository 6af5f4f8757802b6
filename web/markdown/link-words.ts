/** Where a link leads, in short: a host, or somebody's address. */
export function placeOf(href: string): string {
  const { protocol, host, pathname } = new URL(href)
  return protocol === "mailto:" ? pathname : host
}

/**
 * Whether a link's words are its own address, written out: only then need nobody be told where it leads. That they
 * contain it is not enough (`mybank.com/login` may lead to `bank.co`). The browser writes hosts in ASCII, so letters that
 * merely look like others never count as the same.
 */
export function areItsAddress(words: string, href: string): boolean {
  const { protocol } = new URL(href)
  const short = href.slice(protocol.length).replace(/^\/\//, "")
  const spellings = [placeOf(href), href, short].flatMap((one) => [one, one.replace(/\/$/, "")])
  return spellings.includes(words.trim())
}
