import { hasReadableLogin, itsPassword } from "./setting.ts"

/** Of each server the password; a name alone is a token. */
export function natsSecrets(text: string): readonly string[] {
  return text.split(",").flatMap((each) => {
    const passwords = itsPassword(each.trim())
    const token = URL.parse(each.trim())?.username ?? ""
    return passwords.length > 0 || token === "" ? passwords : [token, decodeURIComponent(token)]
  })
}

/** One server or several, each with its port. */
export function isNats(text: string): boolean {
  const servers = text.split(",").map((each) => each.trim())
  return servers.every(
    (each) => /^(nats|tls):\/\/[^\s/]+\/?$/.test(each) && URL.canParse(each) && hasReadableLogin(each),
  )
}
