import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { charsetOfMarkup, charsetOfType, decodeText } from "../../shared/encoding/decode-text.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import type { Web, WebAnswer, WebRequest } from "../../engine/pack-services.ts"
import { explainCertificateError } from "./certificate-errors.ts"
import { retryAfter } from "./retry-after.ts"
import { createGuardedSend } from "./guarded-fetch.ts"
import type { OutboundPolicy } from "./outbound-policy.ts"
import { own } from "../../shared/text/json.ts"

const SECONDS = 10
const MAX_BYTES = 2 * 1024 * 1024
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const UNPACK: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Requests to the web: every address is checked when it is connected to, and responses are limited. */
export class WebClient implements Web {
  readonly #send: ReturnType<typeof createGuardedSend>

  constructor(reach: OutboundPolicy) {
    this.#send = createGuardedSend(reach)
  }

  async fetch(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    const { seconds = SECONDS } = request
    const deadline = AbortSignal.timeout(seconds * 1000)
    const host = URL.parse(request.url)?.host ?? request.url.slice(0, 100)
    try {
      return await this.#follow(request, AbortSignal.any([signal, deadline]))
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error
      const problem = deadline.aborted ? `no answer within ${seconds} s` : reasonOf(error)
      throw failure("web_unreachable", { host, problem })
    }
  }

  async #follow(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    const first = toUrl(request.url)
    let url = first
    let { method = "GET", body } = request
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      // Headers and body are only sent to the origin that they were provided for.
      const headersToSend = url.origin === first.origin ? request.headers : {}
      const headers = { "user-agent": "pawl", "accept-encoding": "identity", accept: "*/*", ...headersToSend }
      const isOperators = url === first
      const response = await this.#send(url, { method, headers, body: body ?? null, signal, isOperators })
      const { statusCode = 502, headers: responseHeaders } = response
      if (!REDIRECTS.has(statusCode) || responseHeaders.location === undefined) return read(response, url, request)
      response.destroy()
      const next = toUrl(responseHeaders.location, url)
      if (statusCode === 303 || (method === "POST" && (statusCode < 307 || next.origin !== url.origin)))
        [method, body] = ["GET", undefined]
      url = next
    }
    throw new Error(`it redirects more than ${MAX_REDIRECTS} times`)
  }
}

async function read(response: IncomingMessage, url: URL, { mostBytes = MAX_BYTES }: WebRequest): Promise<WebAnswer> {
  const { statusCode: status = 502, headers } = response
  const type = headers["content-type"] ?? ""
  const unpack = own(UNPACK, headers["content-encoding"]?.toLowerCase() ?? "")?.()
  if (unpack) response.on("error", (error) => unpack.destroy(error))
  const stream: Readable = unpack ? response.pipe(unpack) : response
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Counted after decompression: a few kilobytes may become gigabytes.
    for await (const chunk of stream) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > mostBytes) break
    }
  } finally {
    response.destroy()
  }
  const text = toText(Buffer.concat(chunks).subarray(0, mostBytes), type)
  const later = retryAfter({ "retry-after": headers["retry-after"] }, Date.now())
  return { url: url.href, status, type, text, cut: size > mostBytes, ...later }
}

/** Decodes by the header's charset, or else the page's. Undecodable bytes become U+FFFD. */
function toText(bytes: Uint8Array, type: string): string {
  const inside = type === "" || /html|xml/i.test(type) ? charsetOfMarkup(bytes) : undefined
  const decoded = decodeText(bytes, { sent: charsetOfType(type), inside })
  return decoded.type === "text" ? decoded.text : new TextDecoder().decode(bytes)
}

function toUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`"${text.slice(0, 100)}" is not a web address`)
  // Text before an @ is a password, or is made to look like a host.
  if (url.username || url.password) throw new Error("it holds a name or a password")
  return url
}

/** Sentences for network error codes. */
const REASONS: readonly (readonly [codes: RegExp, says: string])[] = [
  [/^(?:ENOTFOUND|ENODATA)$/, "there is no host of that name"],
  [/^EAI_/, "its name could not be looked up (this machine may be offline)"],
  [/^ECONNREFUSED$/, "it refused the connection: no server listens there, or a firewall blocks it"],
  [/^(?:ECONNRESET|EPIPE)$/, "it closed the connection"],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "it did not answer in time"],
  [/^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN)$/, "no way leads there (this machine may be offline)"],
]

/** A refused connection to a name with several addresses has an empty message, but a code. */
function reasonOf(error: unknown): string {
  const { message = "", code = "" } = error as { message?: string; code?: string }
  const known = explainCertificateError(code, message) ?? REASONS.find(([codes]) => codes.test(code))?.[1]
  return (known ?? (message || code || "the connection failed")).slice(0, 300).replace(/\.$/, "")
}
