/** No key is shorter, and hiding what is would blacken half of what is told. */
const SHORTEST = 12

/**
 * What nothing may repeat of what a server is sent: each value as it is, and a key also without the word before it. A server
 * that does not know a key says so with the key alone, and without its `Bearer`.
 */
export function sentSecrets(values: Iterable<string>): string[] {
  const all = [...values].flatMap((value) => [value, ...keysIn(value)])
  return [...new Set(all)].filter(({ length }) => length >= SHORTEST)
}

function keysIn(value: string): string[] {
  const [, scheme = "", key] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? []
  if (key === undefined) return []
  if (scheme.toLowerCase() !== "basic") return [key]
  const named = Buffer.from(key, "base64").toString("utf8")
  return [key, named.slice(named.indexOf(":") + 1)]
}
