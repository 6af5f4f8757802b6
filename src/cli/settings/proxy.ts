import type { ProxySettings } from "../../models/network/proxied-fetch.ts"
import { CommandError } from "../process/command.ts"
import type { VariableReader } from "./variables.ts"

/** The proxies of this machine; undefined where there are none. Names in small letters come first, as in other programs. */
export function readProxySettings(settings: VariableReader): ProxySettings | undefined {
  const http = proxyOf(settings, "HTTP_PROXY")
  const https = proxyOf(settings, "HTTPS_PROXY")
  const except = settings.text("no_proxy") ?? settings.text("NO_PROXY")
  if (!http && !https) return undefined
  return { ...(http ? { http } : {}), ...(https ? { https } : {}), ...(except ? { except } : {}) }
}

/** What a proxy's address may hold that must not be printed. */
export function proxyPasswords(proxy: ProxySettings | undefined): string[] {
  const given = [proxy?.http, proxy?.https].flatMap((url) => URL.parse(url ?? "")?.password ?? [])
  return given.flatMap((password) => [password, decoded(password)])
}

function proxyOf(settings: VariableReader, name: string): string | undefined {
  const given = [name.toLowerCase(), name].find((each) => settings.text(each) !== undefined)
  if (given === undefined) return undefined
  const text = settings.text(given) ?? ""
  // `proxy:3128` is how many write it.
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url && /^https?:$/.test(url.protocol)) return url.href
  throw new CommandError(
    `${given} is not the address of an HTTP proxy (its value is hidden, it may hold a password). Set it to http://host:port; for a proxy that Pawl does not speak to, such as SOCKS, unset it for Pawl.`,
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
