import type { UploadedFile } from "../../../core/protocol/index.ts"
import { t } from "../strings/strings.ts"
import { base, pageSecret } from "./client.ts"

interface QueueParts<Answer> {
  readonly send: (file: File, upload: Upload) => Promise<Answer>
  /** Resolves after a delay, or when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

interface Queued extends Upload {
  /** Called when the upload starts. */
  readonly onBegin: () => void
}

/** The server accepts four parallel large uploads per person, and there may be another tab. */
const MAX_AT_ONCE = 3
/** While the server reports that it has no capacity. */
const MAX_TRIES = 6

/** Uploads of this page: three in parallel, the others in order. A removed one frees its slot at once. */
export class UploadQueue<Answer> {
  readonly #parts: QueueParts<Answer>
  readonly #waiting: (() => void)[] = []
  #free = MAX_AT_ONCE

  constructor(parts: QueueParts<Answer>) {
    this.#parts = parts
  }

  async upload(file: File, upload: Queued): Promise<Answer> {
    await this.#turn(upload.signal)
    try {
      upload.signal.throwIfAborted()
      upload.onBegin()
      return await this.#uploadWithRetry(file, upload)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) return void this.#free--
    const mine = Promise.withResolvers<void>()
    this.#waiting.push(mine.resolve)
    const leave = () => {
      const at = this.#waiting.indexOf(mine.resolve)
      // A started upload frees its slot by itself.
      if (at === -1) return
      this.#waiting.splice(at, 1)
      mine.reject(signal.reason)
    }
    signal.addEventListener("abort", leave, { once: true })
    await mine.promise
  }

  /** Keeps its slot while retrying: if the server has no capacity for this one, it has none for the next. */
  async #uploadWithRetry(file: File, upload: Upload): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#parts.send(file, upload)
      } catch (error) {
        const { retryAfterMs } = error as { retryAfterMs?: number }
        if (retryAfterMs === undefined || tries >= MAX_TRIES) throw error
        await this.#parts.wait(retryAfterMs, upload.signal)
        upload.signal.throwIfAborted()
      }
    }
  }
}

export interface Upload {
  /** Between 0 and 1. */
  readonly onProgress: (done: number) => void
  readonly signal: AbortSignal
}

/** Why an upload failed, as a sentence, and when to retry if the server says so. */
class UploadError extends Error {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** Uploads a file for a message. Not with `fetch`, which reports no progress. Rejects with an `UploadError`. */
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
    request.onerror = () => reject(new UploadError(t("common.uploadUnreachable")))
    // Without this an aborted upload would keep its slot.
    request.onabort = () => reject(new UploadError(t("common.uploadRemoved")))
    request.onload = () => {
      const answer = request.response as (UploadedFile & { detail?: string }) | null
      if (request.status === 201 && answer) return resolve(answer)
      const seconds = Number(request.getResponseHeader("retry-after") ?? Number.NaN)
      const later = Number.isFinite(seconds) ? seconds * 1000 : undefined
      reject(new UploadError(answer?.detail ?? t("common.uploadRefused"), later))
    }
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(file)
  })
}
