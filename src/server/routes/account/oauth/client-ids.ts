import { failure } from "../../../../protocol/errors.ts"
import { mendText } from "../../../../protocol/text/text.ts"

/** A program as it has registered. */
export interface OAuthClient {
  readonly name: string
  readonly redirects: readonly string[]
}

const PREFIX = "pawl_app_"
const MAX_NAME = 100
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"])

/**
 * The id of a program is what it has said of itself. Anybody may register anything, so a table of what they said would
 * prove nothing, and could be filled; who the program is decides itself by where the person is sent back to.
 */
export function toClientId({ name, redirects }: OAuthClient): string {
  const text = JSON.stringify([name, ...redirects])
  return PREFIX + Buffer.from(text).toString("base64url")
}

/** Throws `bad_request` for what no registration has given out. */
export function readClientId(id: string): OAuthClient {
  const unknown = () => failure("bad_request", { problem: "client_id: register first, at /oauth/register." })
  if (!id.startsWith(PREFIX)) throw unknown()
  let said: unknown
  try {
    said = JSON.parse(Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8"))
  } catch {
    throw unknown()
  }
  if (!Array.isArray(said) || said.length < 2 || !said.every((each) => typeof each === "string")) throw unknown()
  const [name, ...redirects] = said as [string, ...string[]]
  const client = toClient(name, redirects)
  // Written in one way only: two ids are two programs.
  if (toClientId(client) !== id) throw unknown()
  return client
}

/** As a registration is kept. Throws `bad_request` where a person could be sent back to somewhere that nobody vouches for. */
export function toClient(name: string | undefined, redirects: readonly string[]): OAuthClient {
  const wrong = redirects.find((each) => !isRedirect(each))
  if (wrong !== undefined)
    throw failure("bad_request", {
      problem: `redirect_uris: ${wrong.slice(0, 100)} is neither https nor this machine.`,
    })
  return { name: toShownName(name ?? "") || "A program without a name", redirects }
}

/**
 * Without what shows nothing or turns the line around: it is shown beside where the answer goes, and must not hide that. What
 * comes out of it stays as it is when it goes in again, for the id of a program is read with it.
 */
function toShownName(name: string): string {
  const onOneLine = name.replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").replaceAll(/ +/g, " ")
  return mendText(onOneLine.trim().slice(0, MAX_NAME)).trim()
}

function isRedirect(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.hash !== "" || text.includes("#") || url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname))
}
