import type { UploadedFile } from "../../src/protocol/index.ts"
import { base } from "./base.ts"
import { pageSecret } from "./page-secret.ts"

export interface Upload {
  /** Between 0 and 1. */
  readonly onProgress: (done: number) => void
  readonly signal: AbortSignal
}

/** Why a file was not taken, in a sentence, and when to try again where the server asks for patience. */
export class UploadError extends Error {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** Uploads a file for a message. Not with `fetch`, which does not say how far it is. Rejects with an `UploadError`. */
export function uploadFile(file: File, { onProgress, signal }: Upload): Promise<UploadedFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("POST", `${base}/api/files`)
    request.responseType = "json"
    request.setRequestHeader("content-type", file.type || "application/octet-stream")
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name))
    const secret = pageSecret()
    if (secret) request.setRequestHeader("x-pawl-session", secret)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onerror = () => reject(new UploadError("The server could not be reached; try again."))
    // Without this one that was left out would keep its place for ever.
    request.onabort = () => reject(new UploadError("It was left out."))
    request.onload = () => {
      const answer = request.response as (UploadedFile & { detail?: string }) | null
      if (request.status === 201 && answer) return resolve(answer)
      const seconds = Number(request.getResponseHeader("retry-after") ?? Number.NaN)
      const later = Number.isFinite(seconds) ? seconds * 1000 : undefined
      reject(new UploadError(answer?.detail ?? "The file was not taken.", later))
    }
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(file)
  })
}
