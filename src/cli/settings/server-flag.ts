import { CommandError } from "../process/command.ts"

/** What `--server` says. */
export function toUrl(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`
  throw new CommandError(`--server cannot be "${text}". Allowed: an address such as https://pawl.example.`)
}
