const HIDDEN = "[hidden]"

/** Long keys are recognized by their prefix, so that partial quotes are found. */
const LONG_KEY = 16
const PREFIX_LENGTH = 8
const SHORTEST_KEY = 4

/** Anything that looks like a secret: keys, bearer tokens, passwords in a URL. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\bBearer\s+[^\s"',;]+/gi, `Bearer ${HIDDEN}`],
  [/\b(?:sk|pk|rk|gsk|xai)[-_][\w*.\-…]{4,}/gi, HIDDEN],
  [/\bAIza[\w-]{20,}/g, HIDDEN], // Google's
  [/\bya29\.[\w.-]{20,}/g, HIDDEN], // a token of Google's
  [/\bpawl_[\w-]{40,}/g, HIDDEN],
  [/\beyJ[\w-]{10,1000}\.[\w-]+\.[\w-]+/g, HIDDEN], // a JWT of any issuer
  [/(\/\/)[^\s/@:]+:[^\s/@]+@/g, `$1${HIDDEN}@`],
  [/((?:x-api-key|api[-_ ]?key|token|secret|password)["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi, `$1${HIDDEN}`],
]

/** Removes these secrets and anything that looks like one. */
export function scrubSecrets(text: string, secrets: Iterable<string>): string {
  let scrubbed = text
  for (const secret of secrets) {
    if (secret.length < SHORTEST_KEY) continue
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])) {
      scrubbed = scrubbed.replaceAll(form, HIDDEN)
    }
    if (secret.length >= LONG_KEY) {
      scrubbed = scrubbed.replaceAll(
        new RegExp(`${RegExp.escape(secret.slice(0, PREFIX_LENGTH))}[^\\s"']*`, "g"),
        HIDDEN,
      )
    }
  }
  return PATTERNS.reduce((rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement), scrubbed)
}
