import type { UploadedFile } from "../../src/protocol/index.ts"
import { base } from "./base.ts"
import { pageSecret } from "./page-secret.ts"

export interface Upload {
  /** Between 0 and 1. */
  readonly onProgress: (done: number) => void
  readonly signal: AbortSignal
}

/** Uploads a file for a message. Not with `fetch`, which does not say how far it is. Rejects with a sentence. */
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
    request.onerror = () => reject(new Error("The server could not be reached; try again."))
    request.onload = () => {
      const answer = request.response as (UploadedFile & { detail?: string }) | null
      if (request.status === 201 && answer) resolve(answer)
      else reject(new Error(answer?.detail ?? "The file was not taken."))
    }
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(file)
  })
}
