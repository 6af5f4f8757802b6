import { createHash } from "node:crypto"

/**
 * Under what the document is sent that charts are drawn in. Its one script is known by its hash, and it makes a worker of
 * text that it holds; beyond that nothing runs, loads or is asked, not even of us. `sandbox` also where somebody opens it
 * by itself: it never has an origin, so neither cookies nor storage.
 */
export function chartFrameHeaders(html: string): Readonly<Record<string, string>> {
  const script = /<script>(?<source>[\s\S]*?)<\/script>/.exec(html)?.groups?.source ?? ""
  const hash = createHash("sha256").update(script).digest("base64")
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "worker-src blob:",
    "img-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ]
  return { "content-security-policy": policy.join("; "), "x-frame-options": "SAMEORIGIN" }
}
